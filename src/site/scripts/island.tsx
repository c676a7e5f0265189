/** @jsxRuntime automatic @jsxImportSource preact */
/**
 * Islands: the parts of a page that move.
 *
 * Pages are rendered by the server. Some parts change while a page is open: a viewer count, a player, suggestions. Running
 * the whole page as a program in the browser would make every page slow. So only these parts, the islands, run there, and a
 * page loads only the scripts of the islands that it contains.
 *
 * An island is a component like any other, in the file `islands/<name>.tsx`, whose only export is
 * `island('<name>', Component)`. The same call does two things:
 *
 * | Where it runs | What `island` returns and does |
 * |---|---|
 * | server | a component that renders HTML into a `<div>` with the name and the props, and adds the name to `UsedIslands` |
 * | browser | the component itself; finds the `<div>`s of that name and hydrates them with their props |
 *
 *     server:   view --> <Island props> --> <div data-island data-props> HTML </div> + script of the island
 *     browser:  script --> island(name) --> props from data-props --> hydrate: the HTML stays, events work
 *
 * What must hold:
 * - Props are plain JSON values: they cross from server to browser as text. The type `Plain` rejects functions.
 * - The first rendering in the browser gives the same HTML as on the server. It must not depend on the time, the window or
 *   anything else that only one side has: that belongs into an effect.
 * - No island imports another one, because loading its file would hydrate it. What islands share is in `components/`.
 */
import { createContext, type FunctionComponent, h, hydrate } from 'preact'
import { useContext } from 'preact/hooks'
import { showLocalTimes } from './local-times.ts'

/** The names of the islands that a page contains; collected while it is rendered. */
export const UsedIslands = createContext<Set<string> | undefined>(undefined)

/** The type of a value that JSON can carry: no functions, no dates, no instances. */
type Plain<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends (...args: never[]) => unknown
    ? never
    : { [K in keyof T]: Plain<T[K]> }

// Every page with an island has this module, once.
if (typeof document !== 'undefined') showLocalTimes()

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
