import { LOGIN_LIMITS, SIGN_UP_LIMITS } from '../auth/attempts.ts'
import { OperatorSessions } from '../auth/operator-sessions.ts'
import type { SiteTokens } from '../auth/site-tokens.ts'
import type { Config } from '../config/config.ts'
import type { DataFolder } from '../config/data-folder.ts'
import { NO_PEER } from '../http/request-context.ts'
import type { Application } from '../http/server.ts'
import { Proofs } from '../kit/crypto/signed-text.ts'
import { examine } from '../maintenance/doctor.ts'
import type { Services } from '../operations/implement.ts'
import type { MetricsHistory } from '../site/console/history.ts'
import { createReference } from '../site/pages/docs.ts'
import { Pages } from '../site/pages.ts'
import { KnownBrowsers } from '../site/request/known-browsers.ts'
import { attemptsOn } from './services.ts'

/** The port that encoders use if an address has none. */
const RTMP_PORT = 1935

interface SiteOptions {
  readonly config: Config
  readonly services: Services
  readonly folder: DataFolder
  readonly siteTokens: SiteTokens
  readonly controlUrl: string
  readonly rtmpPort: number | undefined
  readonly bucketUrls: readonly string[]
  readonly history: MetricsHistory
  /** Answers the calls that pages make to the API; known when the first page is shown. */
  application(): Application
}

/** The pages. They call the API inside this process, for the address of the browser. */
export function openSite(options: SiteOptions): Pages {
  const { config, services, folder, siteTokens, controlUrl, rtmpPort, bucketUrls, history, application } =
    options
  const { store, publicUrl } = services
  const isDemo = services.demo !== undefined
  return new Pages(
    {
      ...services,
      signUp: config.signUp,
      signUpsPerDay: config.signUpsPerDay,
      consentProofs: new Proofs(folder.ring, 'device-consent'),
      logIns: attemptsOn(store, LOGIN_LIMITS),
      signUps: attemptsOn(store, SIGN_UP_LIMITS),
      knownBrowsers: new KnownBrowsers(folder.ring),
      siteTokens,
      reference: createReference({
        demo: isDemo,
        strict: config.strict,
        baseUrlOf: family => (family === 'control' ? controlUrl : publicUrl),
      }),
      rtmpUrl: rtmpPort === undefined ? undefined : rtmpUrl(publicUrl, rtmpPort),
      bucketUrls,
      callApi: (request, address) =>
        application().handle(request, { ...NO_PEER, address: () => address }, ['helix', 'drops', 'playback']),
      callControl: (request, operator, address) =>
        application().handle(request, { ...NO_PEER, address: () => address }, ['control'], operator),
      operatorSessions: new OperatorSessions({
        ring: folder.ring,
        store,
        operatorToken: folder.operatorToken,
      }),
      metricsHistory: history,
      keepsAllAudit: config.keep.auditDays === 0,
      examine: () => examine(config, { isServing: true, unnamedProxy: application().unnamedProxy }),
    },
    folder.ring,
  )
}

/** Where encoders publish: on the host that people know, and on the port of this process. */
function rtmpUrl(publicUrl: string, port: number): string {
  return `rtmp://${new URL(publicUrl).hostname}${port === RTMP_PORT ? '' : `:${port}`}/live`
}
