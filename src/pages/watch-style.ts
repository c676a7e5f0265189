/** The player, and the pages that it is on. The column is as wide as a picture that leaves space for its title in the window. */
export const WATCH_STYLE = `
.player, .screen {
  position: relative; overflow: hidden; margin: 0 auto 1.25rem; aspect-ratio: 16 / 9; background: #0b0c10; color: #ffffff; border-radius: .9rem;
}
.player video, .screen img { display: block; width: 100%; height: 100%; object-fit: contain; background: #0b0c10; }
.player .shade { position: absolute; inset: 0; }
.player:not([data-state=playing]) .shade { background: rgb(11 12 16 / .35); }
.player[data-state=loading] .shade { background: rgb(11 12 16 / .55); }
.player[data-state=ended] .shade { background: rgb(11 12 16 / .75); }
.player .message, .screen .elsewhere {
  position: absolute; left: 0; right: 0; bottom: 4.25rem; margin: 0; padding: 0 1rem; text-align: center; font-weight: 600; pointer-events: none;
}
.player .message:empty { display: none; }
.player[data-state=ended] .message { top: 0; bottom: 0; display: grid; place-items: center; font-size: 1.25rem; }
.player noscript .message { pointer-events: auto; background: rgb(11 12 16 / .8); padding: .75rem 1rem; bottom: 0; }
.player noscript a { color: #c3caff; }
.screen .elsewhere { bottom: 0; padding: 2.5rem 1rem 1rem; text-align: left; background: linear-gradient(transparent, rgb(11 12 16 / .85)); }
.screen .badge { right: auto; bottom: auto; left: .9rem; top: .9rem; }
.player button { min-height: 0; padding: 0; border: 0; background: none; color: inherit; display: grid; place-items: center; }
.player [hidden] { display: none !important; }
.player svg { width: 1.6rem; height: 1.6rem; fill: currentColor; }
.player svg .stroke { fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.player :focus-visible { outline-color: #ffffff; }
.player .start {
  position: absolute; left: 50%; top: 50%; width: 5rem; height: 5rem; margin: -2.5rem 0 0 -2.5rem; border-radius: 50%;
  background: #4338ca; color: #ffffff; box-shadow: 0 .5rem 2rem rgb(0 0 0 / .45);
}
.player .start:hover { background: #3730a3; }
.player .start svg { width: 2.5rem; height: 2.5rem; }
.player .unmute {
  position: absolute; left: 1rem; top: 1rem; display: flex; align-items: center; gap: .4rem; min-height: 2.75rem; padding: 0 1rem 0 .75rem;
  border-radius: 999px; background: #ffffff; color: #16181d; box-shadow: 0 .25rem 1rem rgb(0 0 0 / .35);
}
.player .bar {
  position: absolute; left: 0; right: 0; bottom: 0; display: flex; align-items: center; gap: .25rem; padding: 2.5rem .6rem .4rem;
  background: linear-gradient(transparent, rgb(11 12 16 / .9)); font-size: .875rem; font-weight: 600; pointer-events: none;
}
.player .bar > * { pointer-events: auto; }
.player .bar button { width: 2.75rem; height: 2.75rem; flex: none; border-radius: .5rem; }
.player .bar button:hover { background: rgb(255 255 255 / .16); }
.player .bar .pause, .player .bar .silence, .player .bar .reduce { display: none; }
.player[data-state=playing] .bar .play, .player[data-state=loading] .bar .play { display: none; }
.player[data-state=playing] .bar .pause, .player[data-state=loading] .bar .pause { display: block; }
.player [aria-pressed=true] .sound, .player [aria-pressed=true] .enlarge { display: none; }
.player .bar [aria-pressed=true] .silence, .player .bar [aria-pressed=true] .reduce { display: block; }
.player .gap { flex: 1; }
.player .time { padding: 0 .5rem; white-space: nowrap; font-variant-numeric: tabular-nums; }
.player .on-air { display: flex; align-items: center; gap: .4rem; margin-left: .5rem; }
.player .on-air::before { content: ""; width: .6rem; height: .6rem; border-radius: 50%; background: #8a92a2; }
.player[data-state=playing] .on-air::before { background: #f0483c; }
.player input[type=range] {
  --filled: 0%; appearance: none; flex: 1; min-width: 3rem; height: 2.75rem; margin: 0; background: none; cursor: pointer; border-radius: .3rem;
}
.player input[data-part=volume] { flex: 0 1 5.5rem; }
.player input[type=range]::-webkit-slider-runnable-track {
  height: .3rem; border-radius: .2rem; background: linear-gradient(#ffffff, #ffffff) 0 / var(--filled) 100% no-repeat rgb(255 255 255 / .35);
}
.player input[type=range]::-moz-range-track { height: .3rem; border-radius: .2rem; background: rgb(255 255 255 / .35); }
.player input[type=range]::-moz-range-progress { height: .3rem; border-radius: .2rem; background: #ffffff; }
.player input[type=range]::-webkit-slider-thumb { appearance: none; width: .9rem; height: .9rem; margin-top: -.3rem; border-radius: 50%; background: #ffffff; }
.player input[type=range]::-moz-range-thumb { width: .9rem; height: .9rem; border: 0; border-radius: 50%; background: #ffffff; }
.player input:disabled { opacity: .5; cursor: default; }
.player[data-quiet] { cursor: none; }
.player[data-quiet] .bar:not(:focus-within) { opacity: 0; }
.player:fullscreen { border-radius: 0; }
.player[data-state=loading]::after {
  content: ""; position: absolute; left: 50%; top: 50%; width: 3rem; height: 3rem; margin: -1.5rem 0 0 -1.5rem; border-radius: 50%;
  border: .3rem solid rgb(255 255 255 / .25); border-top-color: #ffffff; pointer-events: none;
}
.masthead { display: flex; gap: 1rem; align-items: flex-start; margin-bottom: 2rem; }
main > .masthead:first-child { margin-top: 1.25rem; }
.masthead .avatar { border-radius: 50%; background: var(--line); flex: none; }
.masthead .names { flex: 1; min-width: 0; }
.masthead h1 { margin: 0 0 .15rem; }
.masthead .byline { margin: 0; color: var(--quiet); }
.masthead .byline strong { color: var(--text); }
.masthead dl { display: flex; flex-wrap: wrap; gap: .5rem 2rem; margin: 0; }
.masthead dt { color: var(--quiet); font-size: .875rem; }
.masthead dd { margin: 0; font-size: 1.125rem; font-weight: 650; font-variant-numeric: tabular-nums; }
ul.tags { display: flex; flex-wrap: wrap; gap: .4rem; list-style: none; margin: .6rem 0 0; padding: 0; }
ul.tags li { padding: .1rem .6rem; border-radius: 999px; background: var(--line); font-size: .8125rem; font-weight: 550; }
.about { max-width: 44rem; margin-bottom: 2rem; }
ul.cards { list-style: none; margin: 0 0 2rem; padding: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 1.5rem 1.25rem; }
ul.cards a { display: block; color: inherit; text-decoration: none; border-radius: .7rem; }
ul.cards a:hover strong { text-decoration: underline; }
ul.cards .picture { display: block; position: relative; margin-bottom: .5rem; overflow: hidden; border-radius: .7rem; background: var(--line); }
ul.cards strong { display: block; overflow-wrap: anywhere; line-height: 1.35; }
ul.cards p { margin: .15rem 0 0; }
@media (prefers-reduced-motion: no-preference) {
  .player .bar { transition: opacity .2s; }
  .player[data-state=loading]::after { animation: turn 1s linear infinite; }
}
@keyframes turn { to { transform: rotate(360deg); } }
@media (max-width: 40rem) {
  main.full { padding: 0 0 1rem; }
  main.full > :not(.player):not(.screen) { margin-left: 1rem; margin-right: 1rem; }
  header.full { padding: 1rem 1rem .75rem; }
  .player, .screen { border-radius: 0; }
  .player input[data-part=volume] { display: none; }
  .masthead { flex-wrap: wrap; }
  .masthead .avatar { width: 48px; height: 48px; }
  .masthead dl { flex-basis: 100%; }
}
`
