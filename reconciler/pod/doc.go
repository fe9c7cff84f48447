// Package pod reads pods: it turns each object from the API server into a Pod, once. The
// planner does not look at annotations, managedFields or statuses again.
//
// A Pod never changes. It holds only what plans need: what each container requests, runs
// with and was created with, who last set each request and limit, and how far a resize has
// progressed. Caches hold Pods, so a Pod is small: strings that pods share are interned,
// and fields that few pods have are stored separately.
//
// The package must not depend on node types, ratios, clients or the time.
package pod
