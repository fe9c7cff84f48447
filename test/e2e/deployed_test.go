package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// serverName is the name in the certificate of the Deployment's servers.
const serverName = "workload-resizer." + deploy.Namespace + ".svc"

// quickLease lets another replica become the leader within seconds.
var quickLease = []string{"--leader-lease-duration=3s"}

// install applies what users apply. The pods in this cluster execute nothing, so when they are
// running, install scales the Deployment down, and tests start its servers as its containers
// would start.
func (c *cluster) install(t *testing.T) {
	t.Helper()
	if err := c.Install(t.Context(), "deploy/base", deploy.Namespace, "workload-resizer"); err != nil {
		t.Fatal(err)
	}

	// The caller in the journeys has all permissions and sees every pod.
	const users, name = "default", "operator"
	for _, role := range []string{"workload-resizer-admin", "view"} {
		if _, err := c.client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "e2e-" + name + "-" + role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: users, Name: name}},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	c.apply(t, fmt.Appendf(nil, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: %s, namespace: %s}\n", name, users))
	c.operator = c.tokenFile(t, users, name, nil)
}

// start starts a server as the Deployment's container would start it, plus what the
// options add.
func (c *cluster) start(t *testing.T, options localcluster.ServerOptions) *server {
	t.Helper()
	container, err := localcluster.NewContainer(t.Context(), c.Config(), deploy.Namespace, "workload-resizer")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := container.Close(); err != nil {
			t.Error(err)
		}
	})
	options.Container = container
	s := &server{Server: localcluster.ServerForTest(t, options)}
	ca := c.authority(t)
	s.connection = []string{"--server", s.GRPCAddress, "--certificate-authority", ca, "--tls-server-name", serverName, "--token-file", c.operator}
	if s.api, err = client.Dial(s.GRPCAddress, client.WithCAFile(ca), client.WithServerName(serverName), client.WithTokenFile(c.operator)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.api.Close() })
	return s
}

// authority returns a file with the certificate authority that callers must trust.
func (c *cluster) authority(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.crt")
	localcluster.Eventually(t, "the authority to be published", func() error {
		return localcluster.WriteAuthority(t.Context(), c.client, deploy.Namespace, "workload-resizer-ca", path)
	})
	return path
}

// trust publishes another authority for callers until the test ends.
func (c *cluster) trust(t *testing.T, ca []byte) {
	t.Helper()
	before, err := c.client.CoreV1().ConfigMaps(deploy.Namespace).Get(t.Context(), "workload-resizer-ca", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set := func(data map[string]string) {
		t.Helper()
		ctx := context.WithoutCancel(t.Context())
		cm, err := c.client.CoreV1().ConfigMaps(deploy.Namespace).Get(ctx, "workload-resizer-ca", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		cm.Data = data
		if _, err := c.client.CoreV1().ConfigMaps(deploy.Namespace).Update(ctx, cm, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	set(map[string]string{"ca.crt": string(ca)})
	t.Cleanup(func() { set(before.Data) })
}
