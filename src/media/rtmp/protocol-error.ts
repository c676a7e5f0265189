/** The peer broke the protocol, or exceeded a limit: the connection is closed. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}
