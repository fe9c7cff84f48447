package localcluster

import (
	"context"
	"strings"

	"k8s.io/client-go/rest"
)

const meddler = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: meddler, namespace: NAMESPACE }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: meddler, namespace: NAMESPACE }
rules:
  - { apiGroups: [""], resources: [pods, pods/status, pods/ephemeralcontainers], verbs: [get, list, patch, update] }
  - { apiGroups: [""], resources: [pods/binding, bindings], verbs: [create] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: meddler, namespace: NAMESPACE }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: meddler }
subjects:
  - { kind: ServiceAccount, name: meddler, namespace: NAMESPACE }
`

// MeddlerKubeconfig creates a ServiceAccount that may write the pods in a namespace in every
// way except resizing them. It writes a kubeconfig for it to dir and returns the path.
func MeddlerKubeconfig(ctx context.Context, cfg *rest.Config, namespace, dir string) (string, error) {
	if err := Apply(ctx, cfg, []byte(strings.ReplaceAll(meddler, "NAMESPACE", namespace))); err != nil {
		return "", err
	}
	return ServiceAccountKubeconfig(ctx, cfg, namespace, "meddler", dir)
}
