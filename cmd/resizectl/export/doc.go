// Package export has the command that writes recommendations into manifests, kustomize overlays and Helm values.
//
// Package tree finds what may be edited, size decides the amounts, and edit changes the bytes; this package matches
// workloads with objects, and prints or writes what changes. It must not write YAML from what it has parsed.
//
// It does not use the verbs of package objects: it changes files, or prints how they would change.
package export
