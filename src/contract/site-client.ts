/**
 * The client id of the site: of the tokens that scripts of our pages get. No client can be registered under it, because
 * their ids contain no dot: nothing but the site gets such a token, and it needs no consent.
 */
export const SITE_CLIENT_ID = 'strand.site'
