package feed

import "testing"

func TestVCPUsByName(t *testing.T) {
	for name, want := range map[string]int{
		"n4-standard-8": 8, "n4-highcpu-2": 2, "c3-standard-4-lssd": 4, "m1-ultramem-160": 160, "x4-megamem-960-metal": 960,
		"e2-custom-4-8192": 4, "custom-6-23040": 6, "n2d-custom-2-4096-ext": 2,
		"Standard_D8as_v5": 8, "Standard_E32-16s_v3": 16, "Standard_F8s_v2": 8, "Standard_B2ms": 2, "Standard_A8m_v2": 8,
		"Standard_HB120rs_v3": 120, "Standard_DS11-1_v2": 1, "Standard_M416-208s_v2": 208,
		// The number is an ordinal.
		"Standard_D3_v2": 0, "Standard_DS3": 0, "Standard_A5": 0, "Standard_G5": 0, "Standard_GS5": 0, "Basic_A3": 0, "Standard_D11_v2_Promo": 0,
		"m7i.large": 2, "m7i.xlarge": 4, "m7i.2xlarge": 8, "u-6tb1.56xlarge": 224, "m7i.metal-24xl": 96, "t3.micro": 2, "m7g.medium": 1,
		"c4.8xlarge": 36, "t2.medium": 2, "m5.metal": 96, "c7g.metal": 64, "m6a.metal": 192, "i3.metal": 0, "m5.small": 0, "m5.xxlarge": 0,
		"e2-micro": 0, "e2-medium": 0, "a2-highgpu-1g": 0, "u-6tb1.metal": 0, "cx22": 0, "": 0,
		"n4-standard-99999999999999999999": 0, "n4-standard-0": 0,
	} {
		if got := vcpusByName(name); got != want {
			t.Errorf("vcpusByName(%q) = %d, want %d", name, got, want)
		}
	}
}
