// Package plans is the commands of what would be done: plan, for pods of a cluster and for
// those that a manifest would make, and explain, for one pod step by step. explain is built
// on package resizes: what was done is a part of why a pod has its size; planning without a
// server is built on package configs, which finds the configuration to plan with.
//
// It must not know how a plan is made: it shows the plans of a server, or of the
// standalone one in this process.
package plans
