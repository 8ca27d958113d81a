//! Names as their language writes them.

/// A Rust or C++ name as it stands in the source; any other as it is.
#[must_use]
pub fn demangle(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        // Without the hash that tells apart what has the same name.
        return format!("{rust:#}");
    }
    if name.starts_with("_Z") || name.starts_with("__Z") {
        let options = cpp_demangle::DemangleOptions::new().recursion_limit(RECURSION);
        if let Ok(cpp) = cpp_demangle::Symbol::new(name)
            && let Ok(text) = cpp.demangle_with_options(&options)
        {
            return text;
        }
    }
    name.to_owned()
}

/// Deep enough for real names; a name in a file can be anything.
const RECURSION: u32 = 96;

#[cfg(test)]
mod tests {
    use super::*;

    /// What c++filt and rustfilt print.
    #[test]
    fn names() {
        for (mangled, plain) in [
            ("main", "main"),
            (
                "_ZNSt6vectorIiSaIiEE9push_backERKi",
                "std::vector<int, std::allocator<int> >::push_back(int const&)",
            ),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
            ("_Zbroken", "_Zbroken"),
            ("", ""),
        ] {
            assert_eq!(demangle(mangled), plain);
        }
    }
}
