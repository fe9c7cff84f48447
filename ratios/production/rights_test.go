package production

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// A server that was upgraded without its Role must not read the ConfigMap.
func TestRights(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	owner := kubernetes.NewForConfigOrDie(namespace.Config())
	s := &stored{owner, namespace.Name, "ratios"}
	s.write(t, nil)
	asServer := namespace.Config()
	asServer.Impersonate.UserName = "upgraded"
	configured := ratiotest.NewMemory("configmap", ratios.Update{Layer: mode(policy.Apply)})
	store := ratios.NewStore(configured, New(Config{Client: kubernetes.NewForConfigOrDie(asServer), Namespace: namespace.Name, Name: s.name}))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- store.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("ended with %v", err)
		}
	})
	refused := func() error {
		err := store.Sources()[1].Err
		if err == nil || !strings.Contains(err.Error(), "is forbidden") || !strings.Contains(err.Error(), "apply your manifests or run \"helm upgrade\" again") {
			return fmt.Errorf("the problem of the source is %w", err)
		}
		return nil
	}

	localcluster.Eventually(t, "the refusal", refused)
	if store.Table() != nil {
		t.Error("a source that applies does not block the table")
	}
	configured.Set(ratios.Update{Layer: mode(policy.Observe)})
	localcluster.Eventually(t, "a table without a source that only observes", func() error { _, err := store.Ready(); return err })
	if err := errors.Join(refused(), store.Problem()); err == nil || !strings.Contains(err.Error(), "ratio source production: ") {
		t.Errorf("the problem is %v", err)
	}
	before := store.Sources()[0].LastGood
	configured.Set(ratios.Update{Layer: mode(policy.Apply)})
	localcluster.Eventually(t, "the other source", func() error {
		if !store.Sources()[0].LastGood.After(before) {
			return errors.New("it is as before")
		}
		return nil
	})
	if store.Table().Production.Applies() {
		t.Error("ratios apply that cannot be read")
	}
	problem := store.Problem()
	for _, want := range []string{
		`cannot list resource "configmaps"`, "or set production.mode to observe",
		"other sources, such as the configuration, change nothing until ratio source production can be read",
	} {
		if problem == nil || !strings.Contains(problem.Error(), want) {
			t.Errorf("while changes wait, the problem is %v, want %q", problem, want)
		}
	}

	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "upgraded"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{s.name}, Verbs: []string{"list", "watch"},
	}}}
	if _, err := owner.RbacV1().Roles(namespace.Name).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "upgraded"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "upgraded"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "upgraded"}},
	}
	if _, err := owner.RbacV1().RoleBindings(namespace.Name).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "the source, once the server has its rights", func() error {
		if err := store.Problem(); err != nil {
			return err
		}
		if !store.Table().Production.Applies() {
			return errors.New("it does not apply")
		}
		return nil
	})
}

// mode returns a layer whose production.mode is set.
func mode(mode string) *ratios.Layer {
	l := byHand()
	l.Cluster = keys.Some(policy.Cluster{Production: policy.Production{Mode: mode}})
	return l
}
