/** Programs that tests of the full tier need from the system: found, or installed where that is one command. */
import { existsSync, rmSync, writeFileSync } from 'node:fs'

/** Where Debian looks whether a package may start its service. */
const POLICY = '/usr/sbin/policy-rc.d'
const SUPERUSERS_FOLDERS = '/usr/local/sbin:/usr/sbin:/sbin'

interface Wanted {
  /** The program goes by one of these names. */
  readonly names: readonly string[]
  /** Or it is this file, which is not a program. */
  readonly file?: string
  /** One or more, separated by spaces. */
  readonly package: string
  /** What is skipped without it. */
  readonly skipped: string
}

/** By the variable that names the path of the program to tests. */
export const WANTED: Readonly<Record<string, Wanted>> = {
  // Chromium without its windows draws the same pages with half of the processor time.
  TEST_CHROMIUM: {
    names: [
      'chromium-headless-shell',
      'chromium',
      'chromium-browser',
      'google-chrome-stable',
      'google-chrome',
    ],
    package: 'chromium-headless-shell',
    skipped: 'every test in a browser',
  },
  TEST_NGINX: { names: ['nginx'], package: 'nginx-light', skipped: 'every test behind nginx' },
  TEST_CADDY: { names: ['caddy'], package: 'caddy', skipped: 'docs/production.md with Caddy' },
  TEST_NGINX_RTMP: {
    names: [],
    file: '/usr/lib/nginx/modules/ngx_rtmp_module.so',
    package: 'libnginx-mod-rtmp',
    skipped: 'every test of broadcasts through nginx-rtmp',
  },
  TEST_FFMPEG: { names: ['ffmpeg'], package: 'ffmpeg', skipped: 'every test with a real encoder' },
  TEST_VLC: {
    names: ['cvlc'],
    package: 'vlc-bin vlc-plugin-base',
    skipped: "VLC's reading of broadcasts and recordings",
  },
  TEST_GSTREAMER: {
    names: ['gst-launch-1.0'],
    package:
      'gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad',
    skipped: "GStreamer's reading of broadcasts and recordings",
  },
  TEST_HAPROXY: { names: ['haproxy'], package: 'haproxy', skipped: 'every test behind HAProxy' },
  TEST_PGBOUNCER: { names: ['pgbouncer'], package: 'pgbouncer', skipped: 'every test through PgBouncer' },
  TEST_PG_DUMP: {
    names: ['pg_dump'],
    package: 'postgresql',
    skipped: 'the lines of docs/backup.md for PostgreSQL',
  },
  TEST_ZSH: { names: ['zsh'], package: 'zsh', skipped: 'the test of completion in zsh' },
  TEST_FISH: { names: ['fish'], package: 'fish', skipped: 'the test of completion in fish' },
  TEST_PROMTOOL: {
    names: ['promtool'],
    package: 'prometheus',
    skipped: "Prometheus' check of metrics and alerts",
  },
  TEST_PYTEST: {
    names: ['pytest', 'pytest-3'],
    package: 'python3-pytest',
    skipped: 'the examples in Python',
  },
  TEST_PYTHON: {
    names: ['python3'],
    package: 'python3',
    skipped: 'the examples of the reference in Python',
  },
  TEST_SYSTEMD_ANALYZE: {
    names: ['systemd-analyze'],
    package: 'systemd',
    skipped: "systemd's check of the units",
  },
  TEST_FFPROBE: { names: ['ffprobe'], package: 'ffmpeg', skipped: "FFmpeg's reading of exported markers" },
  TEST_XMLLINT: { names: ['xmllint'], package: 'libxml2-utils', skipped: "libxml2's reading of FCPXML" },
  TEST_CC: {
    names: ['cc', 'gcc', 'clang'],
    package: 'gcc libc6-dev',
    skipped: 'every test on a disk that fails or with a clock that jumps',
  },
}

/**
 * Their paths, by variable. As root on Debian it installs those that are missing, and lists them first; elsewhere it reports
 * which tests are skipped.
 */
export async function findPrograms(): Promise<Record<string, string>> {
  const isRootOnDebian = process.getuid?.() === 0 && existsSync('/etc/debian_version')
  const missing = Object.values(WANTED).filter(each => pathOf(each) === undefined)
  if (missing.length > 0 && isRootOnDebian) {
    const packages = missing.flatMap(each => each.package.split(' '))
    process.stderr.write(`installing ${packages.join(', ')} with apt-get; this may take a minute\n`)
    await install(packages)
  }
  return Object.fromEntries(
    Object.entries(WANTED).map(([variable, wanted]) => {
      const path = pathOf(wanted)
      if (path === undefined) {
        process.stderr.write(`\n!!! SKIPPED: ${wanted.skipped}. Install the package ${wanted.package}.\n\n`)
      }
      return [variable, path ?? '']
    }),
  )
}

function pathOf({ names, file }: Wanted): string | undefined {
  if (file !== undefined) return existsSync(file) ? file : undefined
  const PATH = `${process.env.PATH}:${SUPERUSERS_FOLDERS}`
  return names.map(name => Bun.which(name, { PATH })).find(path => path !== null) ?? undefined
}

/** Only the programs are wanted: their services would take ports. */
async function install(packages: readonly string[]): Promise<void> {
  const isOurs = !existsSync(POLICY)
  if (isOurs) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    for (const words of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
      await Bun.spawn(['apt-get', ...words], { stdout: 'ignore', stderr: 'inherit' }).exited
    }
  } finally {
    if (isOurs) rmSync(POLICY)
  }
}

// Alone, it only installs: `.ci/run` does that while it waits for the rig.
if (import.meta.main) await findPrograms()
