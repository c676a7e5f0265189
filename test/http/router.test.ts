import { expect, test } from 'bun:test'
import { Router } from '../../src/http/router.ts'

const router = new Router<string>()
router.add('GET', '/helix/streams', 'list')
router.add('POST', '/helix/streams', 'make')
router.add('GET', '/control/users/{user_id}', 'user')
router.add('PUT', '/control/users/{user_id}/follows/{broadcaster_id}', 'follow')

test('a route is found by its method and whole path', () => {
  expect(router.find('GET', '/helix/streams')).toEqual({ target: 'list', params: {} })
  expect(router.find('POST', '/helix/streams')).toEqual({ target: 'make', params: {} })
  for (const path of [
    '',
    '/',
    '/helix',
    '/helix/streams/',
    '/helix//streams',
    '/HELIX/streams',
    '/helix/%73treams',
  ])
    expect(router.find('GET', path)).toBeUndefined()
  expect(router.find('PATCH', '/helix/streams')).toBeUndefined()
  expect(router.find('get', '/helix/streams')).toBeUndefined()
})

test('placeholders are handed over as they were sent, and are never empty', () => {
  expect(router.find('GET', '/control/users/7')).toEqual({ target: 'user', params: { user_id: '7' } })
  expect(router.find('GET', '/control/users/%FF')?.params).toEqual({ user_id: '%FF' })
  expect(router.find('PUT', '/control/users/1/follows/2')?.params).toEqual({
    user_id: '1',
    broadcaster_id: '2',
  })
  for (const path of ['/control/users/', '/control/users', '/control/users/7/', '/control/users/7/8'])
    expect(router.find('GET', path)).toBeUndefined()
})
