/** Navigation on the left, text in the middle, examples on the right; one column on a phone. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #ffffff; --side: #f6f7fa; --text: #16181d; --quiet: #555c6a; --line: #dfe3ea; --edge: #767d8b;
  --accent: #4338ca; --soft: #eeedfb; --code: #f3f4f8; --panel: #14161d; --on-panel: #e8ebf2; --panel-quiet: #a3abbb;
  --get: #0b6b3f; --post: #3538c0; --put: #8a4b00; --patch: #8a4b00; --delete: #b3261e; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #101217; --side: #14171e; --text: #eef1f6; --quiet: #aab1bf; --line: #2b303b; --edge: #8a92a2;
    --accent: #a9b3ff; --soft: #23264a; --code: #1d212a; --panel: #181b23; --on-panel: #e8ebf2; --panel-quiet: #a3abbb;
    --get: #79dca9; --post: #aab4ff; --put: #f0bd74; --patch: #f0bd74; --delete: #ff9d92; --bad: #ff9d92;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1rem; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .8125rem; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .25rem; }
[hidden] { display: none !important; }
.skip { position: absolute; left: -100vw; }
.skip:focus { position: static; display: block; padding: .5rem 1rem; }
.frame { display: grid; grid-template-columns: 19rem minmax(0, 1fr); }
nav { background: var(--side); border-right: 1px solid var(--line); }
.rail { position: sticky; top: 0; max-height: 100vh; overflow-y: auto; padding: 1.5rem 1rem 2rem 1.5rem; }
.brand { display: flex; align-items: center; gap: .6rem; margin-bottom: 1.25rem; font-weight: 650; }
.brand .mark { width: 1.75rem; height: 1.75rem; color: var(--accent); flex: none; }
.brand .version { margin-left: auto; color: var(--quiet); font-weight: 400; font-size: .8125rem; }
.menu > summary { display: none; }
.search { margin: 0 0 1.25rem; }
.search label { display: block; font-size: .8125rem; font-weight: 600; margin-bottom: .25rem; }
.search input { width: 100%; font: inherit; font-size: .9375rem; color: inherit; background: var(--ground); border: 1px solid var(--edge); border-radius: .5rem; padding: .4rem .65rem; min-height: 2.5rem; }
.search p { margin: .25rem 0 0; font-size: .8125rem; color: var(--quiet); min-height: 1.3em; }
nav h2 { font-size: .8125rem; margin: 1.25rem 0 .25rem; }
nav h2 a { color: var(--text); text-decoration: none; }
nav h3 { font-size: .75rem; font-weight: 500; color: var(--quiet); margin: .75rem 0 .1rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: flex; gap: .5rem; align-items: baseline; padding: .22rem .5rem; margin: 0 -.5rem; border-radius: .4rem; color: var(--text); text-decoration: none; font-size: .875rem; overflow-wrap: anywhere; }
nav li a:hover { background: var(--soft); }
nav li a[aria-current] { background: var(--soft); color: var(--accent); font-weight: 600; }
.verb { font: 700 .6875rem/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; letter-spacing: .02em; }
nav .verb { flex: 0 0 2.9rem; }
.GET { color: var(--get); } .POST { color: var(--post); } .PUT { color: var(--put); } .PATCH { color: var(--patch); } .DELETE { color: var(--delete); }
main { padding: 2.5rem 3rem 6rem; min-width: 0; max-width: 92rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .75rem; letter-spacing: -.015em; }
.lead { font-size: 1.0625rem; color: var(--quiet); max-width: 44rem; margin: 0 0 1.5rem; }
.basics { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1rem; margin: 0 0 1rem; max-width: 62rem; }
.basics > div { border: 1px solid var(--line); border-radius: .75rem; padding: 1rem 1.1rem; }
.basics dt { font-weight: 600; margin-bottom: .25rem; }
.basics dd { margin: 0; color: var(--quiet); font-size: .9375rem; overflow-wrap: anywhere; }
.family > h2 { font-size: 1.5rem; letter-spacing: -.01em; margin: 3.5rem 0 .25rem; }
.family > p { color: var(--quiet); max-width: 44rem; margin: 0 0 .5rem; }
article { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 28rem); gap: 0 3rem; padding: 2.25rem 0; border-top: 1px solid var(--line); scroll-margin-top: 0; }
article header { grid-column: 1 / -1; }
h3 { font-size: 1.25rem; line-height: 1.3; margin: 0; }
h3 a { color: inherit; text-decoration: none; }
h3 a:hover { text-decoration: underline; }
.route { display: flex; gap: .6rem; align-items: baseline; margin: .35rem 0 .75rem; overflow-wrap: anywhere; }
.route code { font-size: .875rem; }
.tag { font-size: .75rem; font-weight: 600; color: var(--accent); background: var(--soft); border-radius: 1rem; padding: .05rem .6rem; }
.words p { margin: 0 0 .75rem; max-width: 44rem; }
h4 { font-size: .875rem; margin: 1.5rem 0 .25rem; }
.facts { margin: 0 0 .5rem; font-size: .9375rem; max-width: 44rem; }
.facts > div { display: flex; gap: .5rem; padding: .1rem 0; }
.facts dt { flex: 0 0 6rem; color: var(--quiet); }
.facts dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
.rows { margin: 0; font-size: .9375rem; }
.rows > div { padding: .6rem 0; border-top: 1px solid var(--line); }
.rows dt { display: flex; flex-wrap: wrap; gap: .15rem .6rem; align-items: baseline; }
.rows dt code { font-weight: 650; overflow-wrap: anywhere; }
.rows dt span { color: var(--quiet); font-size: .8125rem; }
.rows dt .must { color: var(--bad); font-weight: 600; }
.rows dt .status { color: var(--bad); font-weight: 650; }
.rows dd { margin: .1rem 0 0; color: var(--quiet); overflow-wrap: anywhere; }
.rows dd code, p code, .facts code, .basics code { background: var(--code); border-radius: .3rem; padding: .05rem .3rem; color: var(--text); overflow-wrap: anywhere; }
.failures > div { display: grid; grid-template-columns: minmax(0, 15rem) minmax(0, 1fr); gap: 0 1rem; padding: .4rem 0; }
.failures dt { flex-wrap: nowrap; }
.failures dd { margin: 0; font-size: .875rem; line-height: 1.7; }
.examples { min-width: 0; }
.inner { position: sticky; top: 1.5rem; }
.example { background: var(--panel); color: var(--on-panel); border: 1px solid transparent; border-radius: .75rem; margin: 0 0 1rem; overflow: hidden; }
@media (prefers-color-scheme: dark) { .example { border-color: var(--line); } }
.example figcaption { color: var(--panel-quiet); font-size: .75rem; font-weight: 600; padding: .6rem 1rem 0; }
.example pre { margin: 0; padding: .5rem 1rem .9rem; white-space: pre-wrap; word-break: break-all; line-height: 1.55; }
footer { color: var(--quiet); font-size: .875rem; border-top: 1px solid var(--line); padding-top: 1.5rem; margin-top: 2rem; }
@media (max-width: 80rem) {
  article { grid-template-columns: minmax(0, 1fr); }
  .examples { margin-top: 1.25rem; }
  .inner { position: static; }
  main { padding: 2rem 2rem 4rem; }
}
@media (max-width: 60rem) {
  .frame { display: block; }
  nav { border-right: 0; border-bottom: 1px solid var(--line); }
  .rail { position: static; max-height: none; padding: 1rem; }
  .brand { margin: 0 0 .75rem; }
  .menu > summary { display: list-item; cursor: pointer; font-weight: 600; padding: .5rem 0; }
  .menu[open] > summary { margin-bottom: .75rem; }
  nav li a { padding: .5rem; }
  main { padding: 1.5rem 1rem 4rem; }
  h1 { font-size: 1.625rem; }
  .facts > div { display: block; padding: .3rem 0; }
  .failures > div { display: block; }
}
@media print {
  nav, .skip { display: none; }
  .frame { display: block; }
  main { padding: 0; max-width: none; }
  article { display: block; }
  .inner { position: static; }
  .example { background: none; color: inherit; border: 1px solid var(--line); }
  .example figcaption { color: inherit; }
  .example, .rows > div { break-inside: avoid; }
  h3, h4 { break-after: avoid; }
}
`
