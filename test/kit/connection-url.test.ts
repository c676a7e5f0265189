import { expect, test } from 'bun:test'
import { hostIn, hostUrls } from '../../src/kit/connection-url.ts'

test('a URL of one host is itself', () => {
  for (const url of ['postgres://strand@db/strand', 'postgresql://u:p%40ss@[::1]:5432/x?sslmode=require'])
    expect(hostUrls(url)).toEqual([url])
})

test('each host of several has a URL, with account, database and parameters', () => {
  expect(hostUrls('postgres://u:p@one:5432,two,[::1]:5433/strand?sslmode=require')).toEqual([
    'postgres://u:p@one:5432/strand?sslmode=require',
    'postgres://u:p@two/strand?sslmode=require',
    'postgres://u:p@[::1]:5433/strand?sslmode=require',
  ])
})

test('target_session_attrs is ours to see to', () => {
  for (const [given, left] of [
    ['?target_session_attrs=read-write', ''],
    ['?target_session_attrs=primary&sslmode=require', '?sslmode=require'],
    ['?sslmode=require&target_session_attrs=primary', '?sslmode=require'],
    ['?a=1&target_session_attrs=any&b=2', '?a=1&b=2'],
  ] as const)
    expect(hostUrls(`postgres://u@one,two/strand${given}`)[0]).toBe(`postgres://u@one/strand${left}`)
})

test('what is shown of a host has no account in it', () => {
  expect(hostIn('postgres://u:secret@one:5432/strand')).toBe('one:5432')
})
