import { WATCH_STYLE } from './watch-style.ts'

/** The style sheet of all pages: one column, large type, light and dark colour schemes, no external resources. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f4f5f8; --card: #ffffff; --text: #16181d; --quiet: #565d6b; --line: #d9dde5; --field: #ffffff; --edge: #767d8b;
  --accent: #4338ca; --on-accent: #ffffff; --accent-strong: #3730a3; --danger: #b42318; --danger-ground: #fdecea; --good: #067647;
  --good-ground: #e6f6ee; --ring: #4338ca;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #101217; --card: #191c23; --text: #f1f3f7; --quiet: #aab1bf; --line: #313744; --field: #12151b; --edge: #8a92a2;
    --accent: #a5b0ff; --on-accent: #14162b; --accent-strong: #c3caff; --danger: #ff9d92; --danger-ground: #3a1916; --good: #7fe0b0;
    --good-ground: #12301f; --ring: #a5b0ff;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  display: flex; flex-direction: column; align-items: center;
}
header { width: 100%; max-width: 30rem; padding: 1.25rem 1rem 0; display: flex; align-items: center; gap: .6rem; }
header .mark { width: 1.75rem; height: 1.75rem; color: var(--accent); flex: none; }
header .name { font-weight: 650; letter-spacing: .01em; }
main { width: 100%; max-width: 30rem; padding: 1rem; flex: 1; }
main.wide { max-width: 44rem; }
header.wide { max-width: 44rem; }
main.full, header.full { max-width: max(44rem, min(84rem, (100vh - 13rem) * 16 / 9)); padding-left: 1.5rem; padding-right: 1.5rem; }
footer { padding: 1rem; color: var(--quiet); font-size: .875rem; text-align: center; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 1rem; padding: 1.5rem; margin-bottom: 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.125rem; margin: 0 0 .75rem; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
.quiet { color: var(--quiet); }
.small { font-size: .875rem; }
.below { margin-top: 1rem; }
a { color: var(--accent); }
label { display: block; font-weight: 600; margin-bottom: .25rem; }
.hint { color: var(--quiet); font-size: .875rem; margin: .25rem 0 0; }
input[type=text], input[type=password] {
  width: 100%; font: inherit; color: inherit; background: var(--field); border: 1px solid var(--edge); border-radius: .6rem;
  padding: .7rem .8rem; min-height: 2.75rem;
}
strong.user-code { display: block; margin: .5rem 0; font-size: 1.5rem; letter-spacing: .25em; font-family: ui-monospace, monospace; }
input.code { font-size: 1.5rem; letter-spacing: .25em; text-transform: uppercase; text-align: center; font-family: ui-monospace, monospace; }
.field { margin-bottom: 1rem; }
button, .button {
  font: inherit; font-weight: 600; min-height: 2.75rem; padding: .6rem 1.1rem; border-radius: .6rem; border: 1px solid transparent;
  cursor: pointer; text-align: center; text-decoration: none; display: inline-block;
}
.primary { background: var(--accent); color: var(--on-accent); }
.primary:hover { background: var(--accent-strong); }
.secondary { background: transparent; color: var(--text); border-color: var(--edge); }
.secondary:hover { border-color: var(--text); }
.warning { background: transparent; color: var(--danger); border-color: var(--danger); }
.plain { background: none; border: 0; padding: .5rem 0; min-height: 2.75rem; color: var(--accent); text-decoration: underline; font-weight: 500; }
:focus-visible { outline: 3px solid var(--ring); outline-offset: 2px; }
.actions { display: flex; gap: .75rem; flex-wrap: wrap; }
.actions > * { flex: 1 1 10rem; }
.notice { border-radius: .6rem; padding: .75rem 1rem; margin: 0 0 1rem; }
.notice.bad { background: var(--danger-ground); color: var(--danger); }
.notice.good { background: var(--good-ground); color: var(--good); }
ul.scopes { list-style: none; margin: 0 0 1rem; padding: 0; border: 1px solid var(--line); border-radius: .6rem; }
ul.scopes li { padding: .7rem 1rem; border-bottom: 1px solid var(--line); }
ul.scopes li:last-child { border-bottom: 0; }
ul.scopes code { display: block; color: var(--quiet); font-size: .8125rem; overflow-wrap: anywhere; }
ul.rows { list-style: none; margin: 0; padding: 0; }
ul.rows > li { display: flex; flex-wrap: wrap; gap: .75rem; justify-content: space-between; align-items: center; padding: .9rem 0; border-bottom: 1px solid var(--line); }
ul.rows > li:last-child { border-bottom: 0; padding-bottom: 0; }
ul.rows .what { flex: 1 1 14rem; min-width: 0; overflow-wrap: anywhere; }
.who { display: flex; align-items: center; justify-content: space-between; gap: .75rem; flex-wrap: wrap; border-top: 1px solid var(--line); margin-top: 1.25rem; padding-top: .75rem; }
.card.video { --side: 1.5rem; padding: 0; overflow: hidden; }
.video > * { margin-left: var(--side); margin-right: var(--side); }
.video > .picture { position: relative; margin: 0 0 1.25rem; background: var(--line); }
.video h1 { margin-bottom: .9rem; }
.picture img { display: block; width: 100%; height: auto; aspect-ratio: 16 / 9; object-fit: cover; }
.badge { position: absolute; right: .75rem; bottom: .75rem; padding: .1rem .5rem; border-radius: .4rem; background: #101217; color: #ffffff; font-size: .875rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.badge.live { background: #b42318; }
.position { margin-top: -1.25rem; margin-bottom: 1.25rem; }
.video > .position { margin-left: 0; margin-right: 0; }
.position p { margin: .6rem var(--side) 0; }
progress { display: block; width: 100%; height: .35rem; border: 0; appearance: none; background: var(--line); color: var(--accent); accent-color: var(--accent); }
progress::-webkit-progress-bar { background: var(--line); }
progress::-webkit-progress-value { background: var(--accent); }
progress::-moz-progress-bar { background: var(--accent); }
.channel { display: flex; align-items: center; gap: .75rem; margin-bottom: 1.25rem; }
.channel img { border-radius: 50%; background: var(--line); flex: none; }
dl.facts { display: flex; flex-wrap: wrap; gap: 1rem 3rem; margin-top: 0; margin-bottom: 1.5rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
dl.facts dt { color: var(--quiet); font-size: .875rem; }
dl.facts dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.skip { position: absolute; left: -100vw; }
.skip:focus { position: static; padding: .5rem; }
@media (prefers-reduced-motion: no-preference) { button, .button { transition: background-color .12s, border-color .12s; } }
@media (max-width: 26rem) { .card { padding: 1.1rem; border-radius: .8rem; } .card.video { --side: 1.1rem; } }
${WATCH_STYLE}`
