import { describe, expect, test } from 'bun:test'
import { networkOf, siteOf, widerNetworkOf } from '../../src/kit/network.ts'

describe('the networks of an address', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7', '192.0.2.7', '192.0.2'],
    ['::ffff:192.0.2.7', '192.0.2.7', '192.0.2.7', '192.0.2'],
    ['::FFFF:c000:207', '192.0.2.7', '192.0.2.7', '192.0.2'],
    ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7', '192.0.2.7', '192.0.2'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2', '2001:db8:1', '2001:db8:1'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2', '2001:db8:1', '2001:db8:1'],
    ['2001:db8::6', '2001:db8:0:0', '2001:db8:0', '2001:db8:0'],
    ['fe80::1%eth0', 'fe80:0:0:0', 'fe80:0:0', 'fe80:0:0'],
    ['::1', '0:0:0:0', '0:0:0', '0:0:0'],
    ['', '', '', ''],
  ])('%s', (address, network, site, wider) => {
    expect([networkOf(address), siteOf(address), widerNetworkOf(address)]).toEqual([network, site, wider])
  })
})
