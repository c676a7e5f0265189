/** @jsxRuntime automatic @jsxImportSource preact */
/** Examples of the reference. Long lines scroll inside their box, so the keyboard must reach it. */
import { type Family, familyOf, type Operation } from '../../contract/operation.ts'
import { LANGUAGES } from '../../contract/reference/examples/languages.ts'

export interface ExampleOptions {
  /** Whether the server is in strict mode. */
  readonly strict: boolean
  /** The base URL under which a family is served. */
  baseUrlOf(family: Family): string
}

/** The example of an operation in every language, of which the style sheet shows one. */
export const RequestExample = ({ operation, options }: { operation: Operation; options: ExampleOptions }) => {
  const server = { baseUrl: options.baseUrlOf(familyOf(operation)), strict: options.strict }
  return (
    <figure class="example request">
      <figcaption>
        <span class="what">Request</span>
      </figcaption>
      {LANGUAGES.map(({ name, example }) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        <pre key={name} class={name} tabIndex={0}>
          <code>{example(operation, server)}</code>
        </pre>
      ))}
    </figure>
  )
}

export const TextExample = ({ title, text }: { title: string; text: string }) => (
  <figure class="example">
    <figcaption>{title}</figcaption>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  </figure>
)
