/**
 * The language of examples that a reader has chosen. It is a cookie, because the server then renders the page as it stays:
 * a script could only change it when it is already on the screen.
 */
export const LANGUAGE_COOKIE = 'strand-docs-language'
