// Package plans has the commands that show what would be done: plan, for pods in a cluster and
// in manifests, and explain, for one pod step by step. explain builds on package resizes,
// because earlier resizes are part of why a pod has its size. Planning without a server builds
// on package configs, which finds the configuration to plan with.
//
// It must not know how a plan is made: it shows the plans of a server, or of the server's own planner
// in this process.
//
// explain is a page of package objects. plan uses only its tables: it prints plans as they arrive, asks again
// for those that it watches, and also plans manifests, without a server.
package plans
