/** What people and tests need to use the demo: printed, and written as JSON by `--world`. */
export interface World {
  readonly base_url: string
  readonly helix_url: string
  readonly oauth_url: string
  readonly control_url: string
  readonly operator_token: string
  readonly organization: { readonly id: string; readonly name: string }
  readonly other_organization: { readonly id: string }
  readonly client: WorldClient
  readonly other_client: WorldClient
  readonly users: readonly {
    readonly id: string
    readonly login: string
    readonly password: string
    readonly token: string
    readonly scopes: readonly string[]
  }[]
  readonly broadcaster: { readonly id: string; readonly login: string; readonly token: string }
  readonly editor: { readonly id: string; readonly token: string }
  readonly offline: { readonly id: string; readonly token: string }
  readonly viewer: { readonly id: string; readonly token: string }
  /** Where an encoder makes the offline channel live; absent without the embedded media server. */
  readonly rtmp?: { readonly url: string; readonly login: string; readonly stream_key: string }
  /** `HTTPS_PROXY` of programs with fixed URLs, and the certificate that they have to trust; absent without the proxy. */
  readonly proxy?: { readonly url: string; readonly certificate_file: string }
  readonly game: { readonly id: string }
  readonly benefit: { readonly id: string }
  /** The active campaign, with drops for 2 and for 30 minutes of the game. */
  readonly campaign: { readonly id: string; readonly drops: readonly WorldDrop[] }
  /** The entries of the scenario, by name; absent without a scenario. */
  readonly scenario?: Readonly<Record<string, ScenarioThing>>
}

/** A drop of a campaign. */
export interface WorldDrop {
  readonly id: string
  readonly name: string
  readonly required_minutes: number
}

export interface WorldClient {
  readonly id: string
  readonly secret: string
  readonly app_token: string
}

/** A user of a scenario. */
export interface ScenarioUserEntry {
  readonly id: string
  readonly login: string
  /** A user token with every scope, of the client of the demo. */
  readonly token: string
  /** If the user is live. */
  readonly stream_id?: string
}

/** An entitlement of a scenario, or an id without an entitlement. */
export interface ScenarioEntitlementEntry {
  readonly id: string
  /** The status that UpdateDropsEntitlements returns for it. */
  readonly update_status: string
}

/** A token of a scenario. */
export interface ScenarioTokenEntry {
  readonly token: string
  readonly client_id: string
  readonly scopes: readonly string[]
  /** Unless it is an app token. */
  readonly user_id?: string
}

/** An organization or a game of a scenario. */
export interface ScenarioNamedEntry {
  readonly id: string
  readonly name: string
}

/** A benefit of a scenario. */
export interface ScenarioBenefitEntry extends ScenarioNamedEntry {
  readonly organization_id: string
}

/** A client of a scenario. */
export interface ScenarioClientEntry {
  readonly id: string
  readonly app_token: string
  /** Empty for a public client. */
  readonly secret: string
}

/** A grant of a scenario: many entitlements of one benefit. */
export interface ScenarioGrantEntry {
  readonly count: number
  readonly organization_id: string
  readonly benefit_id: string
  readonly game_id: string
}

/** A campaign of a scenario. */
export interface ScenarioCampaignEntry {
  readonly id: string
  readonly organization_id: string
  readonly game_id: string
  /** In the order of the scenario. */
  readonly drops: readonly WorldDrop[]
}

/** Any entry of a scenario, if its kind is not known from the type of the scenario. */
export type ScenarioThing = Partial<
  ScenarioUserEntry &
    ScenarioEntitlementEntry &
    ScenarioTokenEntry &
    ScenarioNamedEntry &
    ScenarioBenefitEntry &
    ScenarioClientEntry &
    ScenarioGrantEntry &
    ScenarioCampaignEntry
>
