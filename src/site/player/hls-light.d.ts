/** The light build is the full one without parts that this site does not use, and comes without types. */
declare module 'hls.js/light' {
  export { default } from 'hls.js'
}
