/**
 * Starts the servers of a test run, once for all its files: PostgreSQL 18 from npm, PostgreSQL 15 and Redis from the
 * system, which are installed if need be. Each PostgreSQL gets a migrated template that every test database is cloned from.
 *
 * They run without fsync, which makes them twice as fast: no test here crashes the machine. Tests that crash a server
 * start one of their own, with it.
 */

import { migrateToLatest, openDatabase } from "@nightwriter/database";
import { schemaLists } from "@nightwriter/restaurant-totals";
import {
  ensureServer,
  type PostgresService,
  type RedisService,
  startPostgres,
  startRedis,
} from "@nightwriter/services";
import { sql } from "kysely";
import type { TestProject } from "vitest/node";
import { runIdOf } from "./redis-identity.ts";
import { identityOf, type PostgresServer, type PostgresVersion, TEMPLATE, urlOf } from "./servers.ts";

const running: AsyncDisposable[] = [];

export async function setup(project: TestProject): Promise<void> {
  const starting: Promise<unknown>[] = [];
  try {
    // One after the other: both may call apt-get, which allows one at a time.
    const folder15 = await ensureServer("postgres-15");
    await ensureServer("redis");
    const services = [startVersion("18"), startVersion("15", folder15), startQueue()] as const;
    starting.push(...services);
    const [newest, oldest, redis] = await Promise.all(services);
    const postgres = { 18: newest, 15: oldest };
    project.provide("servers", { postgres, redis: { url: redis.url, runId: await runIdOf(redis.url) } });
  } catch (error) {
    await Promise.allSettled(starting);
    await teardown();
    throw error;
  }
}

export async function teardown(): Promise<void> {
  await Promise.all(running.splice(0).map((service) => service[Symbol.asyncDispose]()));
}

async function startVersion(version: PostgresVersion, binDir?: string): Promise<PostgresServer> {
  const service: PostgresService = await startPostgres({
    settings: { fsync: "off", full_page_writes: "off" },
    ...(binDir !== undefined && { binDir }),
  });
  running.push(service);
  await using admin = openDatabase({ url: service.url, applicationName: "nightwriter-testkit", max: 1 });
  const server = { url: service.url, identity: await identityOf(admin) };
  if (!server.identity.startsWith(`${version}/`)) throw new Error(`PostgreSQL ${version}: reached ${server.identity}`);
  await sql`create database ${sql.id(TEMPLATE)}`.execute(admin.db);
  {
    await using template = openDatabase({
      url: urlOf(server, TEMPLATE),
      applicationName: "nightwriter-testkit",
      max: 1,
    });
    await migrateToLatest(template, { lists: schemaLists });
  }
  // A template that nobody can connect to is never in use when it is cloned.
  await sql`alter database ${sql.id(TEMPLATE)} with is_template true allow_connections false`.execute(admin.db);
  return server;
}

async function startQueue(): Promise<RedisService> {
  const service = await startRedis();
  running.push(service);
  return service;
}
