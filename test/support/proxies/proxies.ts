/** The proxies that deploy/ has samples for. */
export const PROXIES = ['nginx', 'haproxy'] as const
export type ProxyName = (typeof PROXIES)[number]
