/** As much of a browser as a login needs: it keeps cookies, follows redirects and sends forms. */
export class Browser {
  #cookies = new Map()
  url
  status
  html

  async open(url, init = {}) {
    const response = await fetch(new URL(url, this.url), {
      ...init,
      headers: { ...init.headers, Cookie: [...this.#cookies].map(pair => pair.join('=')).join('; ') },
      redirect: 'manual',
    })
    for (const line of response.headers.getSetCookie()) {
      const [name, value] = line.split(';', 1)[0].split('=')
      this.#cookies.set(name, value)
    }
    this.url = response.url
    this.status = response.status
    this.html = await response.text()
    const location = response.headers.get('location')
    if (location !== null) await this.open(location)
  }

  /** Sends the form of the page with this action: its hidden fields, and these values. */
  async submit(action, values = {}) {
    const form = this.html.split('<form').find(each => each.includes(`action="${action}"`))
    const hidden = form.split('</form>')[0].matchAll(/type="hidden" name="([^"]*)"[^>]*? value="([^"]*)"/g)
    const fields = Array.from(hidden, ([, name, value]) => [name, value.replaceAll('&amp;', '&')])
    const body = new URLSearchParams({ ...Object.fromEntries(fields), ...values })
    await this.open(action, { method: 'POST', body })
  }
}
