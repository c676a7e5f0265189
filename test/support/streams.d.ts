/** What the runtime adds to streams; the types of the DOM, which JSX brings along, do not know it. */
declare interface ReadableStream<R> {
  text(): Promise<string>
  bytes(): Promise<Uint8Array<ArrayBuffer>>
}
