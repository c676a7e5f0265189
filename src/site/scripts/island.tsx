/** @jsxRuntime automatic @jsxImportSource preact */
/**
 * Islands: the parts of a page that move. An island is a component like any other. The server renders it with its props
 * beside it, and the page loads the script of the island's file, which brings the element to life with the same props.
 *
 * The file is `islands/<name>.tsx`, and `island('<name>', Component)` is its only export. In the browser the call hydrates
 * the elements of that name, so no island imports another one; what they share is in `components/` and here.
 */
import { createContext, type FunctionComponent, h, hydrate } from 'preact'
import { useContext } from 'preact/hooks'

/** The names of the islands that a page contains; collected while it is rendered. */
export const UsedIslands = createContext<Set<string> | undefined>(undefined)

/** Props travel as JSON: no functions, no dates, no instances. */
type Plain<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends (...args: never[]) => unknown
    ? never
    : { [K in keyof T]: Plain<T[K]> }

export function island<Props extends object>(
  name: string,
  Component: FunctionComponent<Props> & (Props extends Plain<Props> ? unknown : never),
): FunctionComponent<Props> {
  if (typeof document !== 'undefined') {
    // When the rest of the file has run: components use what is defined below them.
    queueMicrotask(() => {
      for (const element of document.querySelectorAll<HTMLElement>(`[data-island="${name}"]`))
        hydrate(h<Props>(Component, JSON.parse(element.dataset.props ?? '')), element)
    })
    return Component
  }
  return function Island(props: Props) {
    useContext(UsedIslands)?.add(name)
    return (
      <div data-island={name} data-props={JSON.stringify(props)}>
        {h<Props>(Component, props)}
      </div>
    )
  }
}
