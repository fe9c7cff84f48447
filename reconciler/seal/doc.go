// Package seal proves what the server did to a pod while it was being created. managedFields cannot: the API server
// attributes what a webhook changes to the manager that creates the pod. So the server signs it with a key that only its replicas
// have, together with what identifies the pod at that time, when it has neither a uid nor its final name.
//
// It must not know clients, nor what the sizes mean.
package seal
