import { describe, expect, test } from 'bun:test'
import { isRegisteredRedirect, withParameters } from '../../src/domain/oauth/redirect.ts'

const REGISTERED = [
  'https://app.example.com/callback',
  'https://app.example.com/with?fixed=1',
  'http://localhost:3000/callback',
  'http://127.0.0.1/cb',
  'http://[::1]:5000/cb',
  'com.example.app:/callback',
]

const RIGHT = [
  ...REGISTERED,
  'http://localhost/callback',
  'http://localhost:65535/callback',
  'http://127.0.0.1:49152/cb',
  'http://[::1]/cb',
]

const WRONG = [
  '',
  'https://app.example.com/callback/',
  'https://app.example.com/callback/more',
  'https://app.example.com/callback%2e',
  'https://app.example.com/callback?extra=1',
  'https://app.example.com/callback#fragment',
  'https://app.example.com/callback#',
  'https://app.example.com/callback?',
  'https://app.example.com/CALLBACK',
  'https://APP.example.com/callback',
  'HTTPS://app.example.com/callback',
  'http://app.example.com/callback',
  'https://app.example.com:443/callback',
  'https://app.example.com:8443/callback',
  'https://app.example.com./callback',
  'https://app.example.com.evil.com/callback',
  'https://evil.com/https://app.example.com/callback',
  'https://app.example.com@evil.com/callback',
  'https://user@app.example.com/callback',
  'https://user:password@app.example.com/callback',
  'https://app.example.com\\@evil.com/callback',
  'https:\\\\app.example.com\\callback',
  'https:/app.example.com/callback',
  'https:app.example.com/callback',
  '//app.example.com/callback',
  '/callback',
  'https://app.example.com/./callback',
  'https://app.example.com/x/../callback',
  'https://app.example.com//callback',
  'https://app.example.com/call%62ack',
  'https://app.example.com/callback ',
  ' https://app.example.com/callback',
  'https://app.example.com/callback\n',
  'https://app.example.com/callback\u0000',
  'https://app.example.com/call\tback',
  'https://аpp.example.com/callback',
  'https://app。example.com/callback',
  'https://xn--pp-7cd.example.com/callback',
  'https://app.example.com/with',
  'https://app.example.com/with?fixed=1&more=2',
  'https://app.example.com/with?fixed=2',
  'http://localhost:3000/callback/',
  'http://localhost:3000/Callback',
  'http://localhost:3000@evil.com/callback',
  'http://localhost:0/callback',
  'http://localhost:65536/callback',
  'http://localhost:03000/callback',
  'http://localhost:/callback',
  'http://localhost.:3000/callback',
  'http://localhost.evil.com:3000/callback',
  'http://LOCALHOST:3000/callback',
  'https://localhost:3000/callback',
  'http://127.0.0.1:3000/callback',
  'http://127.1/cb',
  'http://0177.0.0.1/cb',
  'http://2130706433/cb',
  'http://[::1]:5000/cb?x',
  'http://[0:0:0:0:0:0:0:1]:5000/cb',
  'http://[::ffff:127.0.0.1]/cb',
  'com.example.app://callback',
  'com.example.app:/callback/',
  'COM.example.app:/callback',
  'javascript:alert(1)',
  'data:text/html,x',
]

describe('redirect URIs', () => {
  for (const uri of RIGHT) {
    test(`${JSON.stringify(uri)} is registered`, () =>
      expect(isRegisteredRedirect(REGISTERED, uri)).toBe(true))
  }
  for (const uri of WRONG) {
    test(`${JSON.stringify(uri)} is refused`, () => expect(isRegisteredRedirect(REGISTERED, uri)).toBe(false))
  }

  test('nothing is registered where nothing is', () => {
    expect(isRegisteredRedirect([], 'http://localhost/callback')).toBe(false)
  })

  test('what a browser would run or show by itself is refused, though it be registered', () => {
    for (const uri of [
      'javascript:1',
      'data:text/html,hi',
      'vbscript:1',
      'file:///x',
      'blob:x',
      'about:blank',
    ])
      expect([uri, isRegisteredRedirect([uri], uri)]).toEqual([uri, false])
    expect(isRegisteredRedirect(['com.example.app:/cb'], 'com.example.app:/cb')).toBe(true)
  })

  test('parameters are added to what is there', () => {
    expect(
      withParameters('https://a.example/cb', { code: 'x y', state: 'a&b', none: undefined }, 'query'),
    ).toBe('https://a.example/cb?code=x+y&state=a%26b')
    expect(withParameters('https://a.example/cb?fixed=1', { code: 'x' }, 'query')).toBe(
      'https://a.example/cb?fixed=1&code=x',
    )
    expect(withParameters('https://a.example/cb', { access_token: 't' }, 'fragment')).toBe(
      'https://a.example/cb#access_token=t',
    )
  })
})
