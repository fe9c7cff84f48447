package main_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const machineFamily = "cloud.google.com/machine-family"

func TestCluster(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	client := up(t, dir, "--nodes", "n2d=1,n4=1", "--node-cpu", "4", "--node-memory", "8Gi")

	t.Run("nodes are ready, labeled and of the requested size", func(t *testing.T) { testNodes(t, client) })
	t.Run("the API server reports its real version", func(t *testing.T) {
		version, err := client.Discovery().ServerVersion()
		if err != nil || version.GitVersion != kubernetesVersion {
			t.Errorf("got %v, %v", version, err)
		}
	})
	t.Run("workloads run and are resized", func(t *testing.T) { testWorkloads(t, client) })
	t.Run("pod ports are forwarded to this machine", func(t *testing.T) {
		testForwarding(t, clientConfig(t, filepath.Join(dir, "kubeconfig")), client)
	})
	t.Run("service accounts may do only what they are granted", func(t *testing.T) { testServiceAccount(t, dir, client) })
	t.Run("components listen only on loopback", func(t *testing.T) { testListeners(t, dir) })
	t.Run("only the owner can read credentials", func(t *testing.T) { testModes(t, dir) })
	t.Run("status reports a healthy cluster", func(t *testing.T) {
		status := mustRun(t, "status", "--dir", dir)
		for _, want := range []string{"kube-apiserver", "node-n4-0", kubernetesVersion, "2/2", filepath.Join(dir, "kubeconfig")} {
			if !strings.Contains(status.stdout, want) {
				t.Errorf("%q is missing from\n%s", want, status.stdout)
			}
		}
	})
	t.Run("a second up is rejected", func(t *testing.T) {
		again := runCommand(t, upArguments(dir)...)
		if again.exitCode != 1 || !strings.Contains(again.stderr, "testcluster down --dir "+dir) {
			t.Errorf("got exit code %d and %q", again.exitCode, again.stderr)
		}
	})
	t.Run("status shows a crash and up starts a new cluster", func(t *testing.T) { testCrash(t, dir) })
	t.Run("down leaves nothing", func(t *testing.T) {
		begin := time.Now()
		mustRun(t, "down", "--dir", dir)
		t.Logf("down took %.1f s", time.Since(begin).Seconds())
		if left := processesOf(t, dir); len(left) > 0 {
			t.Errorf("processes still run: %v", left)
		}
		if exists(dir) {
			t.Errorf("%s still exists", dir)
		}
		again := mustRun(t, "down", "--dir", dir)
		if !strings.Contains(again.stderr, "no cluster") {
			t.Errorf("a second down prints %q", again.stderr)
		}
	})
}

func testNodes(t *testing.T, client kubernetes.Interface) {
	for name, nodeType := range map[string]string{"n2d-0": "n2d", "n4-0": "n4"} {
		node, err := client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := node.Labels[machineFamily]; got != nodeType {
			t.Errorf("node %s has type %q, want %q", name, got, nodeType)
		}
		if got := node.Labels[corev1.LabelHostname]; got != name {
			t.Errorf("node %s has hostname %q", name, got)
		}
		if len(node.Spec.Taints) > 0 {
			t.Errorf("node %s is tainted: %v", name, node.Spec.Taints)
		}
		allocatable := node.Status.Allocatable
		if cpu, memory := allocatable.Cpu().String(), allocatable.Memory().String(); cpu != "4" || memory != "8Gi" {
			t.Errorf("node %s has %s cores and %s memory, want 4 and 8Gi", name, cpu, memory)
		}
	}
}

func testServiceAccount(t *testing.T, dir string, admin kubernetes.Interface) {
	ctx := t.Context()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "reader"}}
	if _, err := admin.CoreV1().ServiceAccounts("default").Create(ctx, account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token, err := admin.CoreV1().ServiceAccounts("default").CreateToken(ctx, "reader",
		&authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(clientConfig(t, filepath.Join(dir, "kubeconfig")))
	config.BearerToken = token.Status.Token
	reader, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}

	if _, err := reader.CoreV1().Pods("default").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Fatalf("without a grant: got %v, want forbidden", err)
	}
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}},
	}
	if _, err := admin.RbacV1().Roles("default").Create(ctx, role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "reader"}},
	}
	if _, err := admin.RbacV1().RoleBindings("default").Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 10*time.Second, func(ctx context.Context) error {
		_, err := reader.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		return err
	})
	if _, err := reader.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("secrets, not granted: got %v, want forbidden", err)
	}
	if _, err := admin.CoreV1().ConfigMaps("default").Get(ctx, "kube-root-ca.crt", metav1.GetOptions{}); err != nil {
		t.Errorf("the root certificate is not published: %v", err)
	}
}

func testModes(t *testing.T, dir string) {
	files := []string{filepath.Join(dir, "kubeconfig")}
	more, err := filepath.Glob(filepath.Join(dir, "pki", "*"))
	if err != nil || len(more) == 0 {
		t.Fatalf("got %v, %v", more, err)
	}
	for _, file := range append(files, more...) {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", file, info.Mode())
		}
	}
}

func testCrash(t *testing.T, dir string) {
	before := pids(t, dir)
	if err := syscall.Kill(pidOf(t, dir, "kube-apiserver"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// A killed process counts as running until the kernel has freed its memory and its files.
	eventually(t, 10*time.Second, func(context.Context) error {
		status := runCommand(t, "status", "--dir", dir)
		if status.exitCode != 1 || !strings.Contains(status.stdout, "dead") {
			return fmt.Errorf("status: exit code %d\n%s%s", status.exitCode, status.stdout, status.stderr)
		}
		return nil
	})
	again := mustRun(t, upArguments(dir)...)
	if !strings.Contains(again.stderr, "found a leftover cluster") || !strings.Contains(again.stderr, "dead: kube-apiserver") {
		t.Errorf("up does not report the leftover cluster: %s", again.stderr)
	}
	for component, pid := range before {
		if belongsTo(dir, pid) {
			t.Errorf("%s of the crashed cluster still runs", component)
		}
	}
	mustRun(t, "status", "--dir", dir)
}

func TestClusterRules(t *testing.T) {
	t.Parallel()
	t.Run("two clusters run side by side", twoClustersRunSideBySide)
}

func twoClustersRunSideBySide(t *testing.T) {
	t.Parallel()
	dirs := []string{newDir(t), newDir(t)}
	clients := make([]kubernetes.Interface, len(dirs))
	t.Run("up", func(t *testing.T) {
		for i, dir := range dirs {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				clients[i] = up(t, dir)
			})
		}
	})
	if t.Failed() {
		return
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "only-here"}}
	if _, err := clients[0].CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := clients[1].CoreV1().Namespaces().Get(t.Context(), "only-here", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the other cluster: got %v, want not found", err)
	}
	mustRun(t, "down", "--dir", dirs[0])
	mustRun(t, "status", "--dir", dirs[1])
}
