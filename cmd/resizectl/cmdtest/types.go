package cmdtest

// Types is how errors describe the types.
const Types = "one of pod, deployment, replicaset, statefulset, daemonset, job, cronjob, replicationcontroller, or a kind as written in a manifest, such as Rollout"
