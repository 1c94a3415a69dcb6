export { ensureServer, type SystemServer } from "./ensure-server.ts";
export { type EtcdOptions, type EtcdService, startEtcd } from "./etcd.ts";
export { ServicesFault, type ServicesFaultCode } from "./fault.ts";
export { type GuardedCommand, type GuardedProcess, type ProcessExit, startGuarded } from "./guarded-process.ts";
export { type PostgresOptions, type PostgresService, startPostgres } from "./postgres.ts";
export { type RedisOptions, type RedisService, startRedis } from "./redis.ts";
export { startTcpProxy, type TcpProxy, type TcpProxyCounts, type TcpProxyOptions } from "./tcp-proxy.ts";
export { startZookeeper, type ZookeeperOptions, type ZookeeperService } from "./zookeeper.ts";
