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
  readonly game: { readonly id: string }
  readonly benefit: { readonly id: string }
  /** The entries of the scenario, by name; absent without a scenario. */
  readonly scenario?: Readonly<Record<string, ScenarioThing>>
}

export interface WorldClient {
  readonly id: string
  readonly secret: string
  readonly app_token: string
}

/** A user has id, login, token and perhaps stream_id; an entitlement id and update_status; a token the rest. */
export interface ScenarioThing {
  readonly id?: string
  readonly login?: string
  readonly stream_id?: string
  readonly update_status?: string
  readonly token?: string
  readonly client_id?: string
  readonly user_id?: string
  readonly scopes?: readonly string[]
}
