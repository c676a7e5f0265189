/** A file that the build adds to the program, as its path. */
declare module '*.mp4' {
  const path: string

  // biome-ignore lint/style/noDefaultExport: the import of a file is a default import
  export default path
}
