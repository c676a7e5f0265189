import type { Operator, OperatorSessions } from '../../auth/operator-sessions.ts'
import type { PageHandler, PageServices } from '../request/session.ts'
import type { MetricsHistory } from './history.ts'

/** What handlers of the console use beside that of other pages. */
export interface ConsoleServices extends PageServices {
  /** Like `callApi` for the control API, on behalf of an operator who is logged in to the console. */
  readonly callControl: (
    request: Request,
    operator: Operator,
    address: string,
  ) => Response | Promise<Response>
  readonly operatorSessions: OperatorSessions
  /** The metrics of the last minutes. */
  readonly metricsHistory: MetricsHistory
  /** No row of the audit log is ever removed. */
  readonly keepsAllAudit: boolean
  /** Checks this installation, as `strand doctor` does. */
  readonly examine: () => Promise<readonly DoctorFinding[]>
}

export type ConsoleHandler = PageHandler<ConsoleServices>

/** As `strand doctor` reports it. */
export interface DoctorFinding {
  readonly about: string
  readonly level: 'ok' | 'note' | 'warning' | 'problem'
  readonly message: string
  readonly advice?: string
}
