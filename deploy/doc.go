// Package deploy embeds the manifests that install workload-resizer and an example in a
// cluster, for programs that apply them unchanged. Users and delivery tools use the files.
//
// It must not know how manifests are applied, or anything that is not in them.
package deploy
