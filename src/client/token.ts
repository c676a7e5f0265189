/**
 * A token, or a function that returns the current one. The function is called for every request. If the server rejects the
 * token with 401, it is called once more, with the rejected token, and has to return another one.
 */
export type Token = string | ((rejected?: string) => string | Promise<string>)
