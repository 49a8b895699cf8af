//! From the annotated function to the test that hands it to an explorer.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, ItemFn};

use crate::settings::Settings;

/// The expansion of the attribute.
pub(crate) fn test(settings: TokenStream, function: TokenStream) -> syn::Result<TokenStream> {
    let settings: Settings = syn::parse2(settings)?;
    let function: ItemFn = syn::parse2(function)?;
    refuse_what_cannot_be_run(&function)?;

    let ItemFn { attrs, vis, sig, block, .. } = &function;
    let name = &sig.ident;
    let output = &sig.output;
    let quiet = attrs.iter().any(|a| a.path().is_ident("should_panic")) && !settings.has("regressions");
    let quiet = quiet.then(|| quote!(.regressions(false)));
    let set = settings.0.iter().map(|(name, value)| quote!(.set(#name, #value)));
    Ok(quote! {
        #(#attrs)*
        #[::core::prelude::v1::test]
        #vis fn #name() {
            fn #name() #output #block
            let explorer = ::raddle::Explorer::new()
                .name(::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)))
                .crate_dir(::core::env!("CARGO_MANIFEST_DIR"))
                #quiet
                #(#set)*;
            ::raddle::__macro::Tested::check(explorer, #name)
        }
    })
}

fn refuse_what_cannot_be_run(function: &ItemFn) -> syn::Result<()> {
    let sig = &function.sig;
    let wrong = if sig.asyncness.is_some() {
        Some(
            "an async test needs an executor under Raddle's control, which is not there yet: make it a plain `fn` and \
              test with threads",
        )
    } else if !sig.inputs.is_empty() {
        Some("a test takes no arguments: make what it needs inside, so that every execution starts afresh")
    } else if !sig.generics.params.is_empty() {
        Some("a test cannot be generic: call a generic function from one test for each type")
    } else {
        None
    };
    if let Some(message) = wrong {
        return Err(syn::Error::new_spanned(sig, message));
    }
    match function.attrs.iter().find(|a| is_test(a)) {
        Some(twice) => Err(syn::Error::new_spanned(twice, "`#[raddle::test]` makes it a test already: remove this")),
        None => Ok(()),
    }
}

fn is_test(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "test")
}
