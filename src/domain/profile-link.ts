/** A link of a profile. It is stored as one text, so that imports, the command line and forms treat it as any other list. */
export interface ProfileLink {
  readonly label: string
  readonly url: string
}

/** The label may have spaces, the URL has none. */
export function parseProfileLink(text: string): ProfileLink {
  const space = text.lastIndexOf(' ')
  return { label: text.slice(0, space), url: text.slice(space + 1) }
}

export const formatProfileLink = ({ label, url }: ProfileLink): string => `${label} ${url}`
