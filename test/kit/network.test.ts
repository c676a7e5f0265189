import { describe, expect, test } from 'bun:test'
import { isIPv4 } from 'node:net'
import fc from 'fast-check'
import { ipv4Value, toNetwork, toSite, toWiderNetwork } from '../../src/kit/network.ts'

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
    expect([toNetwork(address), toSite(address), toWiderNetwork(address)]).toEqual([network, site, wider])
  })
})

describe('the value of an IPv4 address', () => {
  test('is its 32 bits', () => {
    expect(['0.0.0.0', '1.2.3.4', '255.255.255.255'].map(ipv4Value)).toEqual([0, 0x01020304, 0xffffffff])
  })

  test('is there for what the runtime takes for an IPv4 address, and for nothing else', () => {
    const piece = fc.oneof(
      fc.integer({ min: 0, max: 300 }).map(String),
      fc.constantFrom('', '00', '01', 'x', ' 1', '٣'),
    )
    const text = fc.array(piece, { minLength: 1, maxLength: 6 }).map(pieces => pieces.join('.'))
    fc.assert(
      fc.property(fc.oneof(text, fc.ipV4(), fc.ipV6(), fc.string()), each => {
        expect(ipv4Value(each) !== undefined).toBe(isIPv4(each))
      }),
    )
  })
})
