/** The notes of a version: its section of CHANGELOG.md, with links that lead to the files of its tag. */
export function extractNotes(changelog: string, version: string, page: string): ReleaseNotes {
  const sections = changelog.split(/^(?=## )/m)
  const section = sections.find(each => each.startsWith(`## ${version} `))
  const [, date = ''] = /^## \S+ \((.*)\)$/m.exec(section ?? '') ?? []
  if (section === undefined || date === '')
    throw new Error(`CHANGELOG.md has no section "## ${version} (date)"`)
  const text = section
    .slice(section.indexOf('\n'))
    .trim()
    .replaceAll(/\]\((?![a-z]+:)([^)]+)\)/g, `](${page}/blob/v${version}/$1)`)
  return { date, text: `${text}\n` }
}

export interface ReleaseNotes {
  /** As the changelog has it: a date, or `unreleased`. */
  readonly date: string
  readonly text: string
}
