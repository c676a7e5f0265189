/** The page of the repository with this address, which is in package.json alone. */
export function repositoryPage(url: string): string {
  return url.replace(/^git\+/, '').replace(/\.git$/, '')
}
