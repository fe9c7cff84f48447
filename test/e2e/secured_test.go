package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// secured covers a server that encrypts connections and authenticates callers, as it must
// if other machines can reach it.
func (c *cluster) secured(t *testing.T) {
	const users = "users"
	c.namespace(t, users)
	cert, err := localcluster.ServingCertificate(t.TempDir(), "workload-resizer."+deploy.Namespace+".svc")
	if err != nil {
		t.Fatal(err)
	}
	s := c.serveSecured(t, cert)
	viewer := c.person(t, users, "viewer", "workload-resizer-viewer")
	editor := c.person(t, users, "editor", "workload-resizer-editor")
	seer := c.person(t, users, "seer", "workload-resizer-viewer")
	c.bind(t, ns, users, "seer", "view")

	t.Run("grpcurl calls each service", func(t *testing.T) {
		call := func(token string, args ...string) (int, string) {
			t.Helper()
			content, err := os.ReadFile(token)
			if err != nil {
				t.Fatal(err)
			}
			code, out, errOut := run(t, "grpcurl", append([]string{"-cacert", cert.CertFile, "-H", "authorization: Bearer " + string(content)}, args...)...)
			return code, out + errOut
		}
		for _, tc := range []struct{ method, request, want string }{
			{"RatioService/GetRatio", `{"node_type": "n4"}`, `"cpuFactor": 0.8`},
			{"PlanService/PreviewPod", `{"namespace": "samples", "pod": "db-0"}`, "PermissionDenied"},
			{"StatusService/GetStatus", `{}`, `"leading": true`},
			{"HoldService/ListHolds", `{}`, `{`},
		} {
			if _, out := call(viewer, "-d", tc.request, s.GRPCAddress, "workloadresizer.v1."+tc.method); !strings.Contains(out, tc.want) {
				t.Errorf("%s returns %s, want %s", tc.method, out, tc.want)
			}
		}
		if _, out := call(viewer, s.GRPCAddress, "list"); !strings.Contains(out, "workloadresizer.v1.RatioService") {
			t.Errorf("the services are %s", out)
		}
		if code, out := call(viewer, "-d", `{"override": {"node_type": "n4", "cpu_perf": 2}}`, s.GRPCAddress, "workloadresizer.v1.OverrideService/UpdateOverride"); code == 0 || !strings.Contains(out, "NOT_AUTHORIZED") {
			t.Errorf("a viewer who writes gets %s", out)
		}
		if code, out := call(editor, "-d", `{"override": {"node_type": "n4", "cpu_perf": 2}, "allow_missing": true, "validate_only": true}`, s.GRPCAddress, "workloadresizer.v1.OverrideService/UpdateOverride"); code != 0 || !strings.Contains(out, `"impact"`) {
			t.Errorf("an editor who writes gets %s", out)
		}
	})
	t.Run("resizectl authenticates with a token", func(t *testing.T) {
		ask := func(token string, args ...string) (int, string) {
			t.Helper()
			code, out, errOut := run(t, "resizectl", append(args, "--server", s.GRPCAddress, "--certificate-authority", cert.CertFile, "--token-file", token)...)
			return code, out + errOut
		}
		if code, out := ask(viewer, "ratios", "list"); code != 0 || !strings.Contains(out, "n4") {
			t.Errorf("ratios list: exit %d, %s", code, out)
		}
		if code, out := ask(viewer, "ratios", "set", "n4", "--cpu", "2", "--yes"); code != 2 || !strings.Contains(out, "cannot update overrides") {
			t.Errorf("a viewer's ratios set: exit %d, %s", code, out)
		}
		if code, out, errOut := run(t, "resizectl", "ratios", "list", "--server", s.GRPCAddress, "--certificate-authority", cert.CertFile); code != 2 || !strings.Contains(errOut, "cannot authenticate you") {
			t.Errorf("without credentials: exit %d, %s%s", code, out, errOut)
		}
	})
	t.Run("a caller sees only plans of pods that it may get", func(t *testing.T) {
		for plan, err := range dialSecured(t, s.GRPCAddress, cert.CertFile, viewer).PreviewPlans(t.Context(), "").All() {
			t.Errorf("unexpected plan %v, %v", plan, err)
		}
		// A caller does not see for a minute what it could not see at first.
		c.awaitSight(t, users, "seer", ns)
		seen := 0
		for plan, err := range dialSecured(t, s.GRPCAddress, cert.CertFile, seer).PreviewPlans(t.Context(), "").All() {
			if err != nil {
				t.Fatal(err)
			}
			if plan.GetNamespace() != ns {
				t.Errorf("unexpected plan %v", plan)
			}
			seen++
		}
		if seen == 0 {
			t.Error("the samples are not visible")
		}
	})
}

// awaitSight waits until the API server allows a ServiceAccount to get pods in a namespace.
func (c *cluster) awaitSight(t *testing.T, users, name, namespace string) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("%s to be allowed to get pods in %s", name, namespace), func() error {
		review, err := c.client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "system:serviceaccount:" + users + ":" + name, ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods", Namespace: namespace},
		}}, metav1.CreateOptions{})
		if err == nil && !review.Status.Allowed {
			err = errors.New(review.Status.Reason)
		}
		return err
	})
}

// serveSecured starts a server with a certificate and waits until it is ready. The server
// also authenticates callers by certificates of the cluster's authority.
func (c *cluster) serveSecured(t *testing.T, cert localcluster.Certificate, args ...string) *localcluster.Server {
	t.Helper()
	s := localcluster.ServerForTest(t, localcluster.ServerOptions{Kubeconfig: c.serviceAccount(t), Args: append([]string{
		"--tls-cert-file", cert.CertFile, "--tls-private-key-file", cert.KeyFile, "--client-ca-file", filepath.Join(c.Dir, "pki", "ca.crt"),
	}, args...)})
	ctx, cancel := context.WithTimeout(t.Context(), localcluster.Patience)
	defer cancel()
	if err := s.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

func dialSecured(t *testing.T, address, ca, token string) *client.Client {
	t.Helper()
	api, err := client.Dial(address, client.WithCAFile(ca), client.WithTokenFile(token))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	return api
}

// person creates a ServiceAccount with a ClusterRole, and returns a file with its token
// for the server.
func (c *cluster) person(t *testing.T, namespace, name, role string) string {
	t.Helper()
	if _, err := c.client.CoreV1().ServiceAccounts(namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "e2e-" + name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: name}},
	}
	if _, err := c.client.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.client.RbacV1().ClusterRoleBindings().Delete(context.WithoutCancel(t.Context()), binding.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return c.tokenFile(t, namespace, name, nil)
}

// tokenFile returns a file with a ServiceAccount's token for the server, bound to an
// object if one is given.
func (c *cluster) tokenFile(t *testing.T, namespace, account string, bound *authenticationv1.BoundObjectReference) string {
	t.Helper()
	token, err := c.client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"workload-resizer.io"}, BoundObjectRef: bound},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), account)
	if err := os.WriteFile(path, []byte(token.Status.Token), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// bind gives a ServiceAccount a ClusterRole in one namespace.
func (c *cluster) bind(t *testing.T, in, namespace, name, role string) {
	t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "e2e-" + name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: name}},
	}
	if _, err := c.client.RbacV1().RoleBindings(in).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.client.RbacV1().RoleBindings(in).Delete(context.WithoutCancel(t.Context()), binding.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}
