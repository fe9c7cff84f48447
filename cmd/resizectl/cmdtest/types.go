package cmdtest

// Types is what errors say of the types.
const Types = "one of pod, deployment, replicaset, statefulset, daemonset, job, cronjob, replicationcontroller, or a kind as it is written in a manifest, such as Rollout"
