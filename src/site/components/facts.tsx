/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from 'preact'

/** Numbers with their names, such as viewers and uptime. */
export const Facts = ({ children }: { children: ComponentChildren }) => <dl class="facts num">{children}</dl>

export const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
