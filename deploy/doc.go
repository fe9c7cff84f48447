// Package deploy is how workload-resizer and a first example come into a
// cluster: the manifests of this directory, for programs that apply them as
// they are. People and delivery tools use the files.
//
// It must not know how manifests are applied, nor anything that is not in them.
package deploy
