import type { getCampaignReport } from '../contract/control/campaigns.ts'
import type { AnswerOf } from '../contract/operation.ts'
import type { StoredCampaign } from '../domain/campaign.ts'
import type { Store } from '../store/store.ts'

const MAX_AGE_MILLISECONDS = 10_000
const MAX_REPORTS = 100

export type CampaignReport = AnswerOf<typeof getCampaignReport>['data'][number]

/** Reports about campaigns. Counting reads all viewers, so callers within some seconds share a report. */
export class CampaignReports {
  readonly #store: Pick<Store, 'dropProgress'>
  readonly #maxAge: number
  readonly #made = new Map<string, { readonly at: number; readonly report: Promise<CampaignReport> }>()

  constructor(store: Pick<Store, 'dropProgress'>, maxAge = MAX_AGE_MILLISECONDS) {
    this.#store = store
    this.#maxAge = maxAge
  }

  async read(campaign: StoredCampaign): Promise<CampaignReport> {
    const known = this.#made.get(campaign.id)
    const now = performance.now()
    if (known !== undefined && now - known.at < this.#maxAge) return known.report
    const report = this.#count(campaign)
    this.#made.delete(campaign.id)
    this.#made.set(campaign.id, { at: now, report })
    const [oldest] = this.#made.keys()
    if (this.#made.size > MAX_REPORTS && oldest !== undefined) this.#made.delete(oldest)
    // A failure is not shared with later callers.
    report.catch(() => this.#made.delete(campaign.id))
    return report
  }

  async #count(campaign: StoredCampaign): Promise<CampaignReport> {
    const { viewers, minutes, linked, fulfilled, reached, claimed } =
      await this.#store.dropProgress.totals(campaign)
    return {
      campaign_id: campaign.id,
      viewers,
      minutes,
      linked,
      fulfilled,
      drops: campaign.drops.map(({ id, name, required_minutes }) => ({
        drop_id: id,
        name,
        required_minutes,
        reached: reached.get(id) ?? 0,
        claimed: claimed.get(id) ?? 0,
      })),
    }
  }
}

const COLUMNS = ['drop_id', 'name', 'required_minutes', 'reached', 'claimed'] as const

/** A line for each drop (RFC 4180). */
export function writeCsv({ drops }: CampaignReport): string {
  const lines = drops.map(drop => COLUMNS.map(name => quote(String(drop[name]))).join(','))
  return [COLUMNS.join(','), ...lines, ''].join('\r\n')
}

/** A name that begins like a formula would be run by a spreadsheet. */
function quote(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
