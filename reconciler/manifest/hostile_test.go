package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/footprint"
)

// A manifest takes little memory, however it is made.
func TestMemory(t *testing.T) {
	const size = 1 << 20
	fill := func(text string) string { return strings.Repeat(text, size/len(text)) }
	pod := func(inner string) string { return of("v1", "Pod", inner) }
	var bomb strings.Builder
	bomb.WriteString("apiVersion: v1\nkind: Pod\na0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	for name, text := range map[string]string{
		"aliases of aliases":      bomb.String(),
		"merged keys":             "apiVersion: v1\nkind: Pod\nx: &a {" + strings.Repeat("k: v, ", 1) + "b: " + strings.Repeat("y", 1000) + "}\nz:\n" + fill("- {<<: *a}\n"),
		"an alias in its anchor":  "apiVersion: v1\nkind: Pod\nx: &a [" + strings.Repeat("*a,", 40) + "]\n",
		"a definition":            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nx: [" + fill("1,") + "]\n",
		"templates":               `{"apiVersion":"example.com/v1","kind":"X","template":[` + fill("{},") + `{}]}`,
		"a fault after much text": `{"apiVersion":"v1","kind":"Pod","x":[` + fill("1,") + `1],"spec":{"containers":3}}`,
		"one anchor, many times":  "apiVersion: v1\nkind: Pod\nx: &a " + strings.Repeat("y", size/2) + "\nz: [" + fill("*a,") + "]\n",
		"nested Lists":            strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, 9000),
		"nested arrays of YAML":   strings.Repeat("[", 5000),
		"a long flow sequence":    pod("{x: [" + fill("1,") + "]}"),
		"a long JSON array":       `{"apiVersion":"v1","kind":"Pod","x":[` + fill("1,") + "1]}",
		"many objects in objects": `{"apiVersion":"v1","kind":"Pod","x":[` + fill(`{"a":{}},`) + "1]}",
		"ephemeral containers":    `{"apiVersion":"v1","kind":"Pod","spec":{"ephemeralContainers":[` + fill("{},") + `{}]}}`,
		"volumes":                 `{"apiVersion":"v1","kind":"Pod","spec":{"volumes":[` + fill("{},") + `{}]}}`,
		"spread constraints":      `{"apiVersion":"v1","kind":"Pod","spec":{"topologySpreadConstraints":[` + fill("{},") + `{}]}}`,
		"claim templates":         `{"apiVersion":"apps/v1","kind":"StatefulSet","spec":{"volumeClaimTemplates":[` + fill("{},") + `{}]}}`,
		"documents of claims":     fill("---\napiVersion: apps/v1\nkind: StatefulSet\nspec: {volumeClaimTemplates: [" + strings.Repeat("{},", 49990) + "{}]}\n"),
		"lines that end with CR":  "apiVersion: v1\rkind: Pod\rx:\r" + fill("- a:\r"),
		"sequences in one line":   "apiVersion: v1\nkind: Pod\nx:\n  " + fill("- ") + "a\n",
		"nested in sequences":     strings.Repeat("- "+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+"\n", 100),
		"many documents":          fill("---\n{}\n"),
		"many containers":         pod("{containers: [" + fill("{name: a},") + "]}"),
		"many items of a List":    `{"apiVersion":"v1","kind":"List","items":[` + fill(`{},`) + `{}]}`,
		"many small objects":      fill(`{"apiVersion":"v1","kind":"X"}`),
		"many pods":               fill(`{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"a"}]}}`),
	} {
		t.Run(name, func(t *testing.T) {
			footprint.Check(t, len(text), func() { _, _ = Read([]byte(text), replicaSetsOnly) })
		})
	}
}
