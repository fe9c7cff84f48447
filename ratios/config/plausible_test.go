package config

import (
	"testing"
)

func TestPlausible(t *testing.T) {
	t.Run("validation rejects implausible ratios with their path", validationRejectsImplausibleRatiosWithTheirPath)
	t.Run("the server accepts the rest of the document", theServerAcceptsTheRestOfTheDocument)
}

const typo = `
baselineNodeType: n2d
nodeTypes: { n2d: { cpuPerf: 1, memPerf: 1 }, n4: { cpuPerf: 1.25, memPerf: 1 }, c3.x: { cpuPerf: 130, memPerf: 1 } }
`

func validationRejectsImplausibleRatiosWithTheirPath(t *testing.T) {
	const remedy = "(from config.yaml), or raise maxSpeedRatio in config.yaml"
	c3 := `nodeTypes["c3.x"]: c3.x would be 130 times as fast as n2d for cpu, beyond maxSpeedRatio 5: correct the ratio of c3.x (from config.yaml) or of n2d ` + remedy
	for _, tc := range []struct{ name, text, want string }{
		{"of the globals", typo, c3},
		{"that the maximum allows", typo + "maxSpeedRatio: 130\n", ""},
		{"that a rule does not repeat", typo + "podLabels: {env: {test: {bounds: {cpu: {min: 1}}}, live: {nodeTypes: {n4: {cpuPerf: 2, memPerf: 1}}}}}\n", c3},
		{"of a rule", published + "podLabels: {env: {test: {nodeTypes: {n4: {cpuPerf: 1, memPerf: 0.1}}}}}\n",
			"podLabels.env.test: n2d would be 10 times as fast as n4 for memory, beyond maxSpeedRatio 5: correct the ratio of n4 (from config.yaml) or of n2d " + remedy},
		{"of a rule with a lower maximum", published + "overrides: [{name: strict, match: {computeClass: a}, maxSpeedRatio: 1.28}]\n",
			"overrides[0] (strict): c3 would be 1.3 times as fast as n2d for cpu, beyond maxSpeedRatio 1.28: correct the ratio of c3 (from config.yaml) or of n2d " + remedy},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := Validate([]byte(tc.text))
			if got := errorText(err); got != tc.want {
				t.Errorf("error\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func theServerAcceptsTheRestOfTheDocument(t *testing.T) {
	if err := Check([]byte(typo)); err != nil {
		t.Error(err)
	}
}
