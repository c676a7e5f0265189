/** The landscapes of the demo, which move: its clips are made of them, and its pictures are moments of them. */
import { drawCity, drawHills, drawPeaks, drawSea } from '../land.ts'
import { day, dusk, type MovingScene, night } from '../scene.ts'
import {
  drawAurora,
  drawBalloon,
  drawBirds,
  drawClouds,
  drawMills,
  drawPassingLand,
  drawPlane,
  drawSnow,
  drawTrain,
} from './moving-parts.ts'

export const MOVING_SCENES: Readonly<Record<string, MovingScene>> = {
  harbour: { light: dusk(280, 320), land: drawSea, seed: 3, above: [drawClouds], front: [drawBirds] },
  metropolis: { light: night(290, 330), land: drawCity, seed: 5, above: [drawPlane], front: [drawTrain] },
  summit: { light: day(245, 205), land: drawPeaks, seed: 8, above: [drawClouds], front: [drawBalloon] },
  meadow: {
    light: day(180, 140),
    land: drawHills,
    seed: 2,
    above: [drawClouds, drawMills],
    front: [drawBirds],
  },
  aurora: { light: night(260, 200), land: drawPeaks, seed: 21, above: [drawAurora], front: [drawSnow] },
  journey: { light: dusk(340, 380), land: drawPassingLand, seed: 13, above: [drawClouds], front: [] },
}
