// Package pod reads pods: of each object of the API server it makes a Pod, once, and
// nothing that plans looks at annotations, managedFields or statuses again.
//
// A Pod never changes. It has what plans are made from and nothing more: what each
// container asks for, runs with and was created with, who set each request and limit
// last, and how far a resize has got. It is also what caches hold, so it is kept
// small: texts that pods share are interned, and what few pods have is set apart.
//
// It must not know node types, ratios, clients, nor what time it is.
package pod
