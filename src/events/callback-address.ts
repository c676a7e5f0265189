/**
 * Which addresses a webhook may be sent to. Without this check, a subscription could make the server send requests into the
 * network that it runs in: to itself, to databases, to the metadata service of a cloud.
 */
import { BlockList, isIP } from 'node:net'

/** IPv4 networks that are not public, by the registry of special-purpose addresses. */
const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Link-local, with the metadata services of most clouds.
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  // Reserved, with the broadcast address.
  '240.0.0.0/4',
  // A public address that Azure answers for its metadata inside each machine.
  '168.63.129.16/32',
]

/** All of IPv6 that is assigned to public use. Addresses that contain IPv4 addresses are outside, but for the next list. */
const PUBLIC_IPV6 = ['2000::/3']

/** Special networks inside it: protocol assignments with Teredo, documentation, and 6to4, which contains IPv4 addresses. */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const specialIpv4 = toBlockList(SPECIAL_IPV4, 'ipv4')
const publicIpv6 = toBlockList(PUBLIC_IPV6, 'ipv6')
const specialIpv6 = toBlockList(SPECIAL_IPV6, 'ipv6')

/** Whether an address is public. Anything that is not an address, or has a zone, is not. */
export function isPublicAddress(address: string): boolean {
  if (address.includes('%')) return false
  const version = isIP(address)
  if (version === 4) return !specialIpv4.check(address, 'ipv4')
  return version === 6 && publicIpv6.check(address, 'ipv6') && !specialIpv6.check(address, 'ipv6')
}

function toBlockList(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    list.addSubnet(address, Number(bits), family)
  }
  return list
}
