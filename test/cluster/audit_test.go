package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAudit(t *testing.T) {
	t.Run("the API server follows the audit policy", theAPIServerFollowsTheAuditPolicy)
	t.Run("up rejects a missing audit policy", upRejectsAMissingAuditPolicy)
}

func theAPIServerFollowsTheAuditPolicy(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "policy.json")
	if err := os.WriteFile(policy, []byte(`{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Metadata", "resources": [{"resources": ["configmaps"]}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := newDir(t)
	client := up(t, dir, "--audit-policy", policy)
	if _, err := client.CoreV1().ConfigMaps(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=audited"}); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(dir, "logs", "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(log), `"objectRef":{"resource":"configmaps","namespace":"default","name":"audited","apiVersion":"v1"}`) || strings.Contains(string(log), `"resource":"leases"`) {
		t.Errorf("the audit log does not follow the policy: %s", log)
	}
	mustRun(t, "down", "--dir", dir)
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s still exists", dir)
	}
}

func upRejectsAMissingAuditPolicy(t *testing.T) {
	dir := newDir(t)
	got := runCommand(t, upArguments(dir, "--audit-policy", filepath.Join(t.TempDir(), "nothing"))...)
	if got.exitCode == 0 || !strings.Contains(got.stderr, "--audit-policy: stat ") {
		t.Errorf("exit code %d, %s", got.exitCode, got.stderr)
	}
}
