/** The run that makes the figures: steps in order, each adding to the report. */

import type { Children } from '../load/children.ts'
import { REPORT_EVERY_SECONDS } from '../load/control-flows.ts'
import { memoryOf } from '../load/process-usage.ts'
import {
  measurePublished,
  measureWatched,
  SECONDS_OF_PUBLISHED,
  SECONDS_OF_WATCHED,
} from '../measures/broadcasts.ts'
import type { Comparison } from '../measures/comparison.ts'
import { measureGoingLive, SECONDS_OF_GOING_LIVE } from '../measures/go-live.ts'
import {
  type GrowthLine,
  growthPicture,
  growthSizes,
  growthTable,
  measureGrowth,
  toComparison,
} from '../measures/growth.ts'
import { measureImport, SECONDS_OF_IMPORT } from '../measures/imports.ts'
import { measureBeside, measureScenario, writers } from '../measures/measure.ts'
import { secondsOfTurns } from '../measures/rounds.ts'
import { measureStarts, SECONDS_OF_STARTS } from '../measures/starts.ts'
import { measureReporting, REPORTING_SECONDS, viewerReporting } from '../measures/viewers.ts'
import type { MeasurePlan } from '../options.ts'
import { circumstances, inWords } from '../report/circumstances.ts'
import { keepResults, showInReadme, showPicture } from '../report/keep.ts'
import { type Report, type Single, toMarkdown } from '../report/metrics.ts'
import { runSteps, type Step } from '../report/progress.ts'
import { createStreamMarker } from '../scenarios/create-stream-marker.ts'
import { getStreamsTop } from '../scenarios/get-streams-top.ts'
import { scenarios } from '../scenarios/index.ts'
import { Stage } from '../world/stage.ts'
import { secondsToMake } from '../world/world.ts'

/** What the steps fill. */
interface Found {
  readonly comparisons: Comparison[]
  readonly singles: Single[]
  readonly growth: GrowthLine[]
}

export async function runEverything(plan: MeasurePlan, children: Children, folder: string): Promise<void> {
  const stage = new Stage(children, folder, plan.size, plan.pace)
  const found: Found = { comparisons: [], singles: [], growth: [] }
  await runSteps(stepsOf(plan, stage, found))
  await publish(plan, {
    ...(await circumstances(children)),
    size: `${inThousands(plan.size.streams)} live streams, ${inThousands(plan.size.entitlements)} entitlements`,
    pace: `medians of ${plan.pace.rounds} rounds of ${plan.pace.seconds} s`,
    ...found,
  })
}

/** These make a world of another kind. */
const WITHOUT_WORLD: ReadonlySet<string> = new Set(['watched', 'published', 'import'])

function stepsOf(plan: MeasurePlan, stage: Stage, found: Found): Step[] {
  const { parts } = plan
  const making: Step = {
    name: 'creating the world',
    seconds: secondsToMake(plan.size),
    run: async () => void (await stage.world()),
  }
  const needsWorld = plan.chosen.length > 0 || parts.some(part => !WITHOUT_WORLD.has(part))
  return [
    ...(needsWorld ? [making] : []),
    ...(parts.includes('starts') ? startSteps(plan, stage, found) : []),
    ...mediaSteps(plan, stage, found),
    ...plan.chosen.map(
      (scenario): Step => ({
        name: scenario.name,
        seconds: secondsOfTurns(plan.pace, scenario.goals.length + 1),
        run: async () => {
          found.comparisons.push(...(await measureScenario(await stage.ground(), scenario)))
        },
      }),
    ),
    ...(parts.includes('writers') ? writerSteps(plan, stage, found) : []),
    ...(parts.includes('viewers') ? viewerSteps(plan, stage, found) : []),
    ...(parts.includes('go-live') ? [goLiveStep(stage, found)] : []),
    ...(plan.whole ? [memoryStep(stage, found)] : []),
    ...(parts.includes('growth') ? growthSteps(plan, stage, found) : []),
    ...(parts.includes('import') ? [importStep(plan, stage, found)] : []),
  ]
}

/** Before a server of the world is up: it would share the core. */
function mediaSteps({ parts }: MeasurePlan, stage: Stage, { singles }: Found): Step[] {
  const steps: Record<'watched' | 'published', Step> = {
    watched: {
      name: 'one broadcast with many viewers',
      seconds: SECONDS_OF_WATCHED,
      run: async () => void singles.push(...(await measureWatched(stage.children, stage.folder('watched')))),
    },
    published: {
      name: 'many broadcasts at once',
      seconds: SECONDS_OF_PUBLISHED,
      run: async () =>
        void singles.push(...(await measurePublished(stage.children, stage.folder('published')))),
    },
  }
  return (['watched', 'published'] as const).filter(part => parts.includes(part)).map(part => steps[part])
}

function startSteps({ size }: MeasurePlan, stage: Stage, { singles }: Found): Step[] {
  const empty = { name: 'empty store', atMost: { milliseconds: 300, resident: 120 } }
  const full = { name: `${inThousands(size.streams)} live`, atMost: { milliseconds: 2000, resident: 400 } }
  return [
    {
      name: `starts, ${empty.name}`,
      seconds: SECONDS_OF_STARTS,
      run: async () => {
        const folderOf = (start: number) => stage.folder(`empty-${start}`)
        singles.push(...(await measureStarts(stage.children, folderOf, undefined, empty)))
      },
    },
    {
      name: `starts, ${full.name}`,
      seconds: SECONDS_OF_STARTS,
      run: async () => {
        const { folder, secrets } = await stage.world()
        singles.push(...(await measureStarts(stage.children, () => folder, secrets, full)))
      },
    },
  ]
}

function writerSteps({ pace }: MeasurePlan, stage: Stage, { comparisons }: Found): Step[] {
  const read = scenarios.filter(each => each.besideWriters)
  return read.map(scenario => ({
    name: `${scenario.name}, beside writers`,
    seconds: secondsOfTurns(pace, 2),
    run: async () => {
      const ground = await stage.ground()
      const writing = await writers(ground, createStreamMarker)
      comparisons.push(await measureBeside(ground, scenario, writing))
    },
  }))
}

function viewerSteps({ pace: given }: MeasurePlan, stage: Stage, { comparisons, singles }: Found): Step[] {
  // A shorter round might not meet all of the reports.
  const pace = { ...given, seconds: Math.max(given.seconds, REPORT_EVERY_SECONDS) }
  return [
    {
      name: 'viewers of all channels every five seconds',
      seconds: REPORTING_SECONDS,
      run: async () => {
        const ground = await stage.ground()
        singles.push(await measureReporting(ground, viewerReporting(ground)))
      },
    },
    {
      name: `${getStreamsTop.name}, beside viewer reports`,
      seconds: secondsOfTurns(pace, 2),
      run: async () => {
        const ground = await stage.ground()
        comparisons.push(await measureBeside({ ...ground, pace }, getStreamsTop, viewerReporting(ground)))
      },
    },
  ]
}

function goLiveStep(stage: Stage, { singles }: Found): Step {
  return {
    name: '1,000 channels go live within a second',
    seconds: SECONDS_OF_GOING_LIVE,
    run: async () => void singles.push(...(await measureGoingLive(await stage.ground()))),
  }
}

function memoryStep(stage: Stage, { singles }: Found): Step {
  return {
    name: 'memory after the whole run',
    seconds: 0,
    run: async () => {
      const { resident } = memoryOf((await stage.ground()).strand.pid)
      singles.push({ name: 'Resident memory after the whole run', value: resident, unit: 'MB' })
    },
  }
}

function growthSteps({ pace, size }: MeasurePlan, stage: Stage, { growth }: Found): Step[] {
  const sizes = growthSizes(size)
  const smaller = sizes.slice(0, -1)
  const growing = scenarios.filter(each => each.grows)
  return [
    {
      name: 'creating the smaller worlds',
      seconds: smaller.reduce((sum, each) => sum + secondsToMake(each), 0),
      run: async () => void (await stage.sizes()),
    },
    ...growing.map(scenario => ({
      name: `${scenario.name}, growth`,
      seconds: secondsOfTurns(pace, sizes.length),
      run: async () => {
        const where = { children: stage.children, folder: stage.folder('scratch'), pace }
        growth.push(await measureGrowth(where, await stage.sizes(), scenario))
        if (scenario === growing.at(-1)) await stage.closeSizes()
      },
    })),
  ]
}

function importStep({ size }: MeasurePlan, stage: Stage, { singles }: Found): Step {
  return {
    name: `import of ${inThousands(size.entitlements)} entitlements`,
    seconds: SECONDS_OF_IMPORT,
    run: async () => {
      singles.push(...(await measureImport(stage.children, name => stage.folder(name), size.entitlements)))
    },
  }
}

/** Prints and keeps the report, and shows it if that was asked for. */
async function publish({ whole, write }: MeasurePlan, found: Report): Promise<void> {
  const { growth } = found
  const report = { ...found, comparisons: [...found.comparisons, ...growth.map(toComparison)] }
  const markdown = toMarkdown(report)
  console.log(markdown)
  const json = `${JSON.stringify(report, null, 2)}\n`
  if (growth.length === 0) keepResults({ '.json': json })
  else {
    const [table, picture] = [growthTable(growth), growthPicture(growth)]
    console.log(table)
    keepResults({ '.json': json, '-growth.svg': picture })
    if (write) {
      showPicture('growth.svg', picture)
      showInReadme('growth', `${inWords(report, report.pace)}\n\n${table}`)
    }
  }
  if (write && whole) showInReadme('results', markdown)
}

function inThousands(value: number): string {
  return value.toLocaleString('en-US')
}
