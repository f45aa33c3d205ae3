//! The physics and the files of the example `cubes`, without GL: contacts are solved on the CPU.
#![cfg(all(feature = "headless", feature = "io"))]
#![allow(dead_code)] // the example uses more than is tested here

#[path = "../examples/cubes/body.rs"]
mod body;
#[path = "../examples/cubes/collide.rs"]
mod collide;
#[path = "../examples/cubes/contact.rs"]
mod contact;
#[path = "../examples/cubes/cpu.rs"]
mod cpu;
#[path = "../examples/cubes/math.rs"]
mod math;
#[path = "../examples/cubes/problem.rs"]
mod problem;
#[path = "../examples/support/mod.rs"]
mod support;
#[path = "../examples/cubes/world.rs"]
mod world;

use body::Cube;
use math::{Rotation, UP, Vec3, vec3};
use problem::{Model, Problem};
use support::Animation;
use world::{Wall, World};

fn cube(position: Vec3, turn: Vec3) -> Cube {
    Cube::new(1.0, 1.0, position, Rotation::about(turn))
}

const NONE: Vec3 = vec3(0.0, 0.0, 0.0);

#[track_caller]
fn near(found: f64, expected: f64, bound: f64) {
    assert!((found - expected).abs() <= bound, "{found} is not within {bound} of {expected}");
}

#[test]
fn a_cube_on_a_shifted_one_has_the_corners_of_what_they_share() {
    let (lower, upper) = (cube(NONE, NONE), cube(vec3(0.3, 0.999, 0.1), NONE));
    let touches = collide::between(&lower, &upper, 0.01);
    let mut corners: Vec<_> = touches.iter().map(|t| (t.place.x, t.place.z)).collect();
    corners.sort_by(|p, q| p.partial_cmp(q).unwrap());
    let expected = [(-0.2, -0.4), (-0.2, 0.5), (0.5, -0.4), (0.5, 0.5)];
    assert_eq!(corners.len(), 4);
    for ((x, z), (ex, ez)) in corners.into_iter().zip(expected) {
        near(x, ex, 1e-9);
        near(z, ez, 1e-9);
    }
    for touch in touches {
        near(touch.gap, -0.001, 1e-12);
        near(touch.place.y, 0.4995, 1e-12);
        near(touch.normal.dot(UP), -1.0, 1e-12); // from the second, which lies above, into the first
    }
}

#[test]
fn crossed_edges_meet_in_one_point() {
    let quarter = std::f64::consts::FRAC_PI_4;
    let apart = 2.0 * 0.5f64.sqrt(); // from centre to edge, twice
    for gap in [-0.02, 0.02] {
        let lower = cube(vec3(0.1, 0.0, 0.2), vec3(quarter, 0.0, 0.0));
        let upper = cube(vec3(0.3, apart + gap, 0.4), vec3(0.0, 0.0, quarter));
        let touches = collide::between(&lower, &upper, 0.1);
        assert_eq!(touches.len(), 1);
        let touch = touches[0];
        near(touch.gap, gap, 1e-12);
        // The lower edge runs along x at z = 0.2, the upper one along z at x = 0.3.
        near(touch.place.x, 0.3, 1e-12);
        near(touch.place.z, 0.2, 1e-12);
        near(touch.place.y, apart / 2.0 + gap / 2.0, 1e-12);
        near(collide::depth(&lower, &upper), -gap, 1e-12);
    }
}

#[test]
fn a_cube_on_its_corner_touches_the_floor_there() {
    // The diagonal (1, 1, 1) turned to the vertical.
    let angle = (1.0f64 / 3.0).sqrt().acos();
    let standing = cube(vec3(2.0, 0.75f64.sqrt() + 0.003, 1.0), vec3(1.0, 0.0, -1.0).unit() * -angle);
    let touches = collide::with_floor(&standing, 0.01);
    assert_eq!(touches.len(), 1);
    near(touches[0].gap, 0.003, 1e-12);
    near(touches[0].place.x, 2.0, 1e-9);
    near(collide::depth_in_floor(&standing), -0.003, 1e-12);
    assert!(collide::with_floor(&standing, 0.001).is_empty());
}

#[test]
fn a_turned_cube_on_another_has_four_of_the_eight_corners() {
    let (lower, upper) = (cube(NONE, NONE), cube(vec3(0.0, 1.0, 0.0), vec3(0.0, 0.7, 0.0)));
    let touches = collide::between(&lower, &upper, 0.01);
    assert_eq!(touches.len(), 4);
    // They surround the centre, so that the upper cube cannot tip over.
    for direction in [vec3(1.0, 0.0, 0.0), vec3(-1.0, 0.0, 0.0), vec3(0.0, 0.0, 1.0), vec3(0.0, 0.0, -1.0)] {
        assert!(touches.iter().any(|t| t.place.dot(direction) > 0.2), "{touches:?}");
    }
}

/// Cubes that overlap a little, lie on each other and move.
fn heap() -> Vec<Cube> {
    let mut cubes = vec![
        cube(vec3(0.0, 0.49, 0.0), NONE),
        cube(vec3(0.2, 1.48, 0.1), vec3(0.0, 0.3, 0.0)),
        cube(vec3(1.02, 0.55, 0.3), vec3(0.1, 0.2, 0.05)),
        Cube::new(1.5, 12.0, vec3(0.4, 2.6, 0.2), Rotation::about(vec3(0.5, 0.1, 0.4))),
    ];
    for (i, cube) in cubes.iter_mut().enumerate() {
        let k = i as f64;
        cube.velocity = vec3(0.3 - 0.2 * k, -1.0, 0.1 * k);
        cube.spin = vec3(0.5 * k, -0.4, 0.3 - 0.1 * k);
    }
    cubes
}

#[test]
fn the_matrix_says_how_impulses_change_velocities() {
    for friction in [0.0, 0.5] {
        let (cubes, model) = (heap(), Model::new(friction));
        let contacts = contact::find(&cubes, &model, &[]);
        let problem = |cubes: &[Cube]| Problem::new(cubes, contacts.iter(), &model, 1.0).unwrap();
        let before = problem(&cubes);
        assert!(before.len() > 10 * model.rows_each());
        assert!(before.a.is_symmetric());
        let a = before.dense();
        for j in 0..before.len() {
            let mut unit = vec![0.0; before.len()];
            unit[j] = 1.0;
            let mut pushed = cubes.clone();
            before.apply(&unit, &mut pushed);
            for (i, (now, then)) in problem(&pushed).b.iter().zip(&before.b).enumerate() {
                let softer = if i == j { 1.0 + model.compliance } else { 1.0 };
                near(softer * (now - then), a[i * before.len() + j], 1e-12);
            }
        }
    }
}

fn solve(problem: &Problem) -> support::Result<Vec<f32>> {
    let groups = problem.a.independent_groups();
    let (x, _) = cpu::gauss_seidel(problem, &groups, 1e-5);
    let x: Vec<f32> = x.iter().map(|x| *x as f32).collect();
    assert!(cpu::residual(problem, &groups, &x) < 1e-4);
    Ok(x)
}

/// Plays and holds on to what must be true in every frame.
fn play(world: &mut World, frames: usize, deepest: f64) {
    let start = world.energy();
    for _ in 0..frames {
        let before = world.energy();
        world.step(solve).unwrap();
        assert!(world.energy() <= before + 1e-7 * start, "the energy grows");
        assert!(world.deepest() < deepest, "deepest {}", world.deepest());
    }
}

/// A world of these cubes alone.
fn world_of(cubes: Vec<Cube>, friction: f64) -> World {
    let mut world = World::new(Wall { columns: 0, rows: 0 }, Model::new(friction));
    world.paint = vec![[0.5; 3]; cubes.len()];
    world.cubes = cubes;
    world
}

#[test]
fn a_falling_cube_comes_to_rest_on_the_floor() {
    let mut world = world_of(vec![cube(vec3(0.0, 2.0, 0.0), vec3(0.4, 0.3, 0.2))], 0.0);
    play(&mut world, 30, 1e-3);
    near(world.cubes[0].velocity.y, -9.81 * 30.0 / 90.0, 1e-9); // still in the air
    play(&mut world, 330, 0.02);
    let rested = &world.cubes[0];
    near(rested.position.y, 0.5, 0.01);
    assert!(rested.velocity.y.abs() < 1e-3);
}

#[test]
fn a_stack_stands() {
    let stack = (0..6).map(|k| cube(vec3(0.0, f64::from(k) + 0.5, 0.0), NONE)).collect();
    let mut world = world_of(stack, 0.0);
    play(&mut world, 180, 0.02);
    for (k, cube) in world.cubes.iter().enumerate() {
        near(cube.position.y, k as f64 + 0.5, 0.06);
        near(cube.position.x, 0.0, 1e-3);
    }
}

#[test]
fn friction_stops_a_sliding_cube_where_it_should() {
    let mut sliding = cube(vec3(0.0, 0.5, 0.0), NONE);
    sliding.velocity = vec3(3.0, 0.0, 0.0);
    let mut world = world_of(vec![sliding.clone()], 0.5);
    play(&mut world, 120, 0.02);
    // v^2 / (2 mu g)
    near(world.cubes[0].position.x, 9.0 / (2.0 * 0.5 * 9.81), 0.05);
    assert!(world.cubes[0].velocity.length() < 1e-2);
    // And without friction nothing does.
    let mut world = world_of(vec![sliding], 0.0);
    play(&mut world, 120, 0.02);
    near(world.cubes[0].velocity.x, 3.0, 1e-6);
}

#[test]
fn a_wall_collapses_in_the_same_way_every_time() {
    let wall = Wall { columns: 4, rows: 4 };
    let mut first = World::new(wall, Model::new(0.0));
    let (top, start) = (first.top(), first.hash());
    play(&mut first, 120, 0.05);
    assert!(first.top() < 0.75 * top);
    let mut second = World::new(wall, Model::new(0.0));
    assert_eq!(second.hash(), start);
    play(&mut second, 120, 0.05);
    assert_eq!(second.hash(), first.hash());
    assert_ne!(first.hash(), start);
}

/// Shows an animated PNG as a viewer does: what is seen after every frame, three bytes a pixel.
fn shown(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let control = *reader.info().animation_control().unwrap();
    let (width, height) = reader.info().size();
    let mut screen = vec![0u8; 3 * (width * height) as usize];
    let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
    (0..control.num_frames)
        .map(|_| {
            reader.next_frame(&mut buffer).unwrap();
            let frame = *reader.info().frame_control().unwrap();
            assert_eq!((frame.delay_num, frame.delay_den), (1, 30));
            for (i, pixel) in buffer.chunks(4).take((frame.width * frame.height) as usize).enumerate() {
                let (x, y) =
                    (i as u32 % frame.width + frame.x_offset, i as u32 / frame.width + frame.y_offset);
                let at = 3 * (y * width + x) as usize;
                match pixel[3] {
                    255 => screen[at..at + 3].copy_from_slice(&pixel[..3]),
                    alpha => assert_eq!(alpha, 0),
                }
            }
            screen.clone()
        })
        .collect()
}

#[test]
fn an_animation_shows_every_picture() {
    let (width, height) = (31u32, 17u32);
    let background: Vec<u8> = (0..3 * width * height).map(|i| (i % 251) as u8).collect();
    let with = |x: usize, y: usize, shade: u8| {
        let mut picture = background.clone();
        let at = 3 * (y * width as usize + x);
        picture[at..at + 3].fill(shade);
        picture
    };
    // Moving dots, the corners, twice the same, and a background that gets brighter by a shade at a time.
    let mut pictures =
        vec![background.clone(), with(0, 0, 9), with(30, 16, 9), with(3, 4, 77), with(3, 4, 77)];
    pictures.extend((1..6).map(|k| background.iter().map(|v| v.saturating_add(k)).collect()));
    let mut animation = Animation::new((width, height), 30);
    pictures.iter().for_each(|picture| animation.push(picture.clone()));
    let path = std::env::temp_dir().join(format!("texla_cubes_{}.png", std::process::id()));
    animation.write(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let seen = shown(&bytes);
    assert_eq!(seen.len(), pictures.len());
    for (seen, picture) in seen.iter().zip(&pictures) {
        assert!(seen.iter().zip(picture).all(|(a, b)| a.abs_diff(*b) <= 2));
    }
    assert_eq!(seen[0], pictures[0]);
    assert_eq!(seen[1][..3], [9, 9, 9]);
}
